"""jax.core: traced arrays and their types. Names that JAX has moved or taken away stay here, with a
warning.
"""

from __future__ import annotations

from typing import Any

from irax.compat.internals import Gathered as _Gathered
from irax.core import source as _source

_core = _Gathered("jax._src.core")

_NAMES = frozenset(
    {
        *("AbstractValue", "Atom", "ParamDict", "ShapedArray", "Trace", "Tracer", "Value"),
        *("ensure_compile_time_eval", "eval_context", "eval_jaxpr", "max_dim", "min_dim"),
    }
)
"""The names of JAX 0.12's module."""


def __getattr__(name: str) -> Any:
    value = getattr(_core, name)
    if name not in _NAMES and not name.startswith("_"):
        _source.warn(
            f"jax.core.{name} is deprecated, and gone in JAX 0.12: look for it in jax.extend.core",
            DeprecationWarning,
        )
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_core)})
