"""The only exceptions that mcpcheck raises on purpose."""


class UsageError(Exception):
    """Something that the user can fix. The text says how."""


class PeerUnavailable(Exception):
    """The peer did not start, or never answered at all. The text says what was tried and what came."""


def bug(error: Exception) -> str:
    """An exception that nobody meant to raise, and where: what a report to the project needs."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_filename}, line {place.tb_lineno}" if place else ""
    return f"{type(error).__name__}: {error}{where}"
