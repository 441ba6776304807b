"""jax.lax: irax.lax, and primitives."""

from importlib import import_module
from types import ModuleType
from typing import Any

import irax.lax
from irax.compat.layers import names_of
from irax.jaxprs.catalogue import primitive

globals().update(names_of(irax.lax))
linalg: ModuleType = import_module(f"{__name__}.linalg")  # in place of irax.lax.linalg


def __getattr__(name: str) -> Any:
    """Return a primitive, or what `irax.lax` imports when it is first used."""
    found = primitive(name) if name.endswith("_p") else None
    return getattr(irax.lax, name) if found is None else found
