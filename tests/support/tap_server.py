"""A server that plays one part for the tests of the tap: ``python -I -S tap_server.py PART [ARGUMENT]...``.

Its first line of output says that it is there. It needs the standard library only, and starts fast.
"""

import contextlib
import os
import signal
import sys
import threading

READY = b'{"jsonrpc":"2.0","method":"notifications/ready"}\n'
LAST = b'{"jsonrpc":"2.0","method":"notifications/last"}\n'


def write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def read_all() -> bytes:
    parts = []
    while part := os.read(0, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def plays(out: str, err: str, heard: str, code: str) -> int:
    """Say what two files hold, keep what is heard in a third, and go."""
    speakers = [threading.Thread(target=write, args=(fd, contents(path))) for fd, path in ((1, out), (2, err))]
    for speaker in speakers:
        speaker.start()
    with open(heard, "wb") as file:
        file.write(read_all())
    for speaker in speakers:
        speaker.join()
    return int(code)


def echoes() -> int:
    while part := os.read(0, 1 << 16):
        write(1, part)
    return 0


def exits(code: str) -> int:
    """Go after the first input, whether or not there is more of it."""
    os.read(0, 1 << 16)
    write(1, LAST)
    return int(code)


def kills_itself(number: str) -> int:
    os.read(0, 1 << 16)
    write(1, LAST)
    with contextlib.suppress(OSError):  # SIGKILL
        signal.signal(int(number), signal.SIG_DFL)
    os.kill(os.getpid(), int(number))
    signal.pause()
    return 0


def answers_late() -> int:
    """Say what was heard, once there is no more to hear."""
    write(1, read_all())
    return 0


def hears_nothing(lines: str) -> int:
    """Never read; speak all the same; live until killed."""
    for _ in range(int(lines)):
        write(1, LAST)
    signal.pause()
    return 0


def tells_signals(*numbers: str) -> int:
    """Say which of these signals come; go at the end of the input."""
    for number in numbers:
        signal.signal(int(number), lambda got, _: write(1, b"signal %d\n" % got))
    write(1, READY)
    read_all()
    return 0


def goes_at_signal(number: str, code: str) -> int:
    signal.signal(int(number), lambda *_: os._exit(int(code)))
    write(1, READY)
    signal.pause()
    return 0


def tells_its_number() -> int:
    """Say who it is, and go at the end of the input."""
    write(1, b"%d\n" % os.getpid())
    read_all()
    return 0


def ignores_everything() -> int:
    """Go neither at SIGTERM nor at the end of the input."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    write(1, b"%d\n" % os.getpid())
    read_all()
    write(2, b"input is over\n")
    signal.pause()
    return 0


def closes_output() -> int:
    """Say the last word, close the output, and live on."""
    write(1, LAST)
    os.close(1)
    write(2, b"heard %d bytes\n" % len(read_all()))
    return 0


def closes_input() -> int:
    os.close(0)
    write(1, READY)
    signal.pause()
    return 0


def leaves_a_child(code: str) -> int:
    """Go, and leave a process behind that has the pipes."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        signal.pause()
    write(1, b"%d\n" % child)
    return int(code)


def shows_itself() -> int:
    """Say what was inherited: ignored and blocked signals, open descriptors."""
    for line in contents("/proc/self/status").split(b"\n"):
        if line.startswith((b"SigBlk", b"SigIgn")):
            write(1, line + b"\n")
    write(1, b"descriptors %d\n" % sum(os.path.exists(f"/proc/self/fd/{fd}") for fd in range(3, 64)))
    return 0


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
