"""SciPy's functions on arrays. Its modules are imported when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irax_compiler.importing import import_module as _import_module

if TYPE_CHECKING:
    from irax.scipy import (
        cluster,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        sparse,
        spatial,
        special,
        stats,
    )

_MODULES = {
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
}


def __getattr__(name: str) -> Any:
    """Submodules are imported when they are first used."""
    if name in _MODULES:
        return _import_module(f"irax.scipy.{name}")
    raise AttributeError(f"module 'irax.scipy' has no attribute {name!r}")
