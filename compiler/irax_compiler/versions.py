"""The versions of installed packages, and the programs that come with IREE's compiler.

`importlib.metadata.version` parses all that a package tells about itself, its long description
too. That takes a millisecond for each.
"""

from __future__ import annotations

import re
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

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


def bundled_tool(name: str) -> Path | None:
    """Return a program that comes with IREE's compiler, which is not imported; None where there is
    none of the name.
    """
    spec = find_spec("iree.compiler")
    folders = spec.submodule_search_locations if spec is not None else None
    paths = (Path(folder) / "_mlir_libs" / name for folder in folders or ())
    return next((path for path in paths if path.exists()), None)
