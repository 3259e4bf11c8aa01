"""Capture files on the disk: for their owner's eyes only, and written by one at a time."""

import errno
import fcntl
import os
import stat
from typing import BinaryIO


def create(path: str | os.PathLike[str]) -> BinaryIO:
    """Create a capture file that its owner alone can read, or empty the one that is there.

    Raises OSError where that cannot be done, and where somebody else is writing to it.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):  # never a device that somebody named
            _lock(fd, path)
            os.ftruncate(fd, 0)
            os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return open(fd, "wb", buffering=1 << 16)


def _lock(fd: int, path: str | os.PathLike[str]) -> None:
    """Two that write to one file would spoil it for both. Where files know no locks, nothing is lost but this."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EBUSY, "another session is being recorded to it", os.fspath(path)) from None
    except OSError:
        pass
