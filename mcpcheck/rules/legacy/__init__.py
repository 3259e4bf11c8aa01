"""Rules that only the revisions of the handshake era have."""
