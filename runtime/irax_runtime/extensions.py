"""Additions of other packages, which declare them as entry points.

The compiler and the runtime do not import each other, so each has this file.
"""

from __future__ import annotations

import warnings
from importlib import metadata

from irax_runtime.once import once


@once
def load(group: str) -> None:
    """Import what packages declare in a group of entry points: what is imported registers itself.

    What cannot be imported is left out, with a warning that names the package.
    """
    for point in metadata.entry_points(group=group):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist else point.value
            warnings.warn(
                f"{point.name!r} of {package} ({group}) is left out: "
                f"{type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
