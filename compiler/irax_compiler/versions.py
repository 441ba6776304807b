"""The versions of installed packages.

`importlib.metadata.version` parses all that a package tells about itself, its long description
too. That takes a millisecond for each.
"""

from __future__ import annotations

import re
from importlib import metadata

_LINE = re.compile(r"^Version: *(\S+)", re.MULTILINE)


def version(package: str) -> str | None:
    """Return the version of a package; None where it is not installed.

    >>> version("no-such-package") is None
    True
    """
    try:
        return version_of(metadata.distribution(package))
    except metadata.PackageNotFoundError:
        return None


def version_of(package: metadata.Distribution) -> str:
    """Return the version of a package that was found."""
    line = _LINE.search(package.read_text("METADATA") or "")
    return package.version if line is None else line[1]
