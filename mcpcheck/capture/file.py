"""Capture files on the disk: for their owner's eyes only."""

import os
import stat
from typing import BinaryIO


def create(path: str | os.PathLike[str]) -> BinaryIO:
    """Create a capture file that its owner alone can read, or empty the one that is there."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(fd).st_mode):  # never a device that somebody named
        os.fchmod(fd, 0o600)
    return open(fd, "wb", buffering=1 << 16)
