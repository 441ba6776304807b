"""Additions of other packages, which declare them as entry points.

The compiler and the runtime do not import each other, so each has this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import metadata

from irax_runtime.once import once


@once
def load(group: str) -> None:
    """Import what packages declare in a group of entry points: what is imported registers itself.

    What cannot be imported is left out, with a warning that names the package.
    """
    for point in _declared(group):
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


def _declared(group: str) -> Iterator[metadata.EntryPoint]:
    """Yield the entry points of a group. `metadata.entry_points` parses those of all groups, which
    takes five times as long.
    """
    texts = ((each, each.read_text("entry_points.txt")) for each in metadata.distributions())
    names = dict.fromkeys(each.name for each, text in texts if text and group in text)
    for name in names:  # of several packages of one name, the first is imported
        yield from metadata.distribution(name).entry_points.select(group=group)
