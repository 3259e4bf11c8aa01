"""Where specs/ is: inside the package when it was installed from a wheel, else beside it in the checkout."""

from functools import cache
from pathlib import Path


@cache
def specs_root() -> Path:
    """The folder that holds requirements/ and schema/."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_specs"
    return inside if inside.is_dir() else package.parent / "specs"
