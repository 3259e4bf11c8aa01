"""The only exceptions that mcpcheck raises on purpose."""


class UsageError(Exception):
    """Something that the user can fix. The text says how."""


class PeerUnavailable(Exception):
    """The peer did not start, or never answered at all. The text says what was tried and what came."""
