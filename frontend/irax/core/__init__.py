"""The core of the frontend: arrays, tracing, promotion, pytrees, locations.

Of its names, those are public that `jax.core` has: `Tracer`, `Trace`, `ShapedArray`,
`ensure_compile_time_eval`, `max_dim` and `min_dim`.
"""

from typing import TYPE_CHECKING, Any

from irax_compiler.importing import import_module as _import_module

if TYPE_CHECKING:
    from irax.core.avals import ShapedArray
    from irax.core.dimensions import max_dim, min_dim
    from irax.core.tracing import Trace, Tracer, ensure_compile_time_eval

_PUBLIC = {
    "ShapedArray": "avals",
    **dict.fromkeys(("max_dim", "min_dim"), "dimensions"),
    **dict.fromkeys(("Trace", "Tracer", "ensure_compile_time_eval"), "tracing"),
}
"""The public names, by the submodules that they are in."""


def __getattr__(name: str) -> Any:
    """Import submodules when their public names are first used."""
    if name in _PUBLIC:
        return getattr(_import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    from irax.core.absent_names import missing_attribute

    raise missing_attribute(__name__, name)
