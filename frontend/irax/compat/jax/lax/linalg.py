"""jax.lax.linalg: irax.lax.linalg, and primitives of factorizations."""

from typing import Any

import irax.lax.linalg
from irax.compat.layers import names_of
from irax.jaxprs.catalogue import primitive

globals().update(names_of(irax.lax.linalg))


def __getattr__(name: str) -> Any:
    """Return a primitive, or what `irax.lax.linalg` imports when it is first used."""
    found = primitive(name) if name.endswith("_p") else None
    return getattr(irax.lax.linalg, name) if found is None else found
