"""The server's process: started with pipes of its own and the signals it would have had without the tap.

It dies with the tap: a client that kills the tap means the server. Nothing else stands between the two.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt
_KEPT = 32 << 20  # the most that the second one takes
_COERCED = {"C.UTF-8", "C.utf8", "UTF-8"}


@dataclass(frozen=True, slots=True)
class Process:
    """A running server, and our ends of its pipes."""

    pid: int
    stdin: int
    stdout: int
    stderr: int


def start(command: list[str], mask: Iterable[int]) -> Process:
    """Start a command, with ``mask`` as its blocked signals. Raises OSError where it cannot be started."""
    bind = _death_signal()
    env = _environment()
    in_r, in_w = os.pipe()
    out_r, out_w = os.pipe()
    err_r, err_w = os.pipe()
    fault_r, fault_w = os.pipe()
    here = os.getpid()
    pid = os.fork()
    if not pid:
        try:
            for end, standard in ((in_r, 0), (out_w, 1), (err_w, 2)):
                os.dup2(end, standard)
            for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the server would inherit that
                signal.signal(ignored, signal.SIG_DFL)
            bind()
            if os.getppid() == here:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                os.execvpe(command[0], command, env)
        except OSError as error:
            os.write(fault_w, str(error.errno).encode())
        finally:
            os._exit(127)
    for end in (in_r, out_w, err_w, fault_w):
        os.close(end)
    fault = os.read(fault_r, 16)
    os.close(fault_r)
    if fault:
        os.waitpid(pid, 0)
        raise OSError(int(fault), os.strerror(int(fault)))
    return Process(pid, in_w, out_r, err_r)


def _environment() -> dict[str, str]:
    """What this process was given, without what Python puts there itself where the locale is C."""
    env = dict(os.environ)
    if env.get("LC_CTYPE") in _COERCED:
        try:
            with open("/proc/self/environ", "rb") as file:
                given = file.read().split(b"\0")
        except OSError:
            return env
        if not any(pair.startswith(b"LC_CTYPE=") for pair in given):
            del env["LC_CTYPE"]
    return env


def _death_signal() -> Callable[[], object]:
    """What makes the calling process die with its parent, where the system can do that."""
    prctl = _of_libc("prctl")
    return partial(prctl, _DIE_WITH_PARENT, int(signal.SIGKILL))


def keep_memory() -> None:
    """Let freed memory be used again at once: to fetch it anew for each long message takes longer than to copy it."""
    mallopt = _of_libc("mallopt")
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_MMAP_THRESHOLD, _KEPT)


def _of_libc(name: str) -> Callable[[int, int], object]:
    """A function of the C library; one that does nothing where it has none of that name."""
    try:
        import ctypes

        function: Callable[[int, int], object] = getattr(ctypes.CDLL(None), name)
    except (ImportError, OSError, AttributeError):
        return lambda *_: None
    return function


def leave(status: int) -> None:
    """End this process as the server ended: with its exit status, or by the same signal."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    die(-code)


def die(number: int) -> None:
    """End this process by a signal, without a core dump of its own."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, ValueError):  # SIGKILL, and what the C library keeps for itself
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)
