"""Where captures go that nobody named a place for."""

import os
import re
import sys

_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def name_of(stamp: str, label: str, number: int) -> str:
    """The name of a new capture: when, of what, and a number that tells sessions of one second apart."""
    word = _ODD.sub("-", os.path.basename(label.rstrip("/")))[:40].strip("-.") or "session"
    return f"{stamp}-{word}-{number}.ndjson"


def default_path(name: str) -> str:
    """A capture of this name in the user's folder for what programs keep between their runs."""
    return os.path.join(_state_folder(), "captures", name)


def _state_folder() -> str:
    """What platformdirs says; its commonest answer without its import, which would be a fifth of the tap's start."""
    if sys.platform == "linux" and "XDG_STATE_HOME" not in os.environ and os.path.isabs(os.environ.get("HOME", "")):
        return os.path.join(os.environ["HOME"], ".local", "state", "mcpcheck")
    from platformdirs import user_state_dir

    return user_state_dir("mcpcheck", appauthor=False)
