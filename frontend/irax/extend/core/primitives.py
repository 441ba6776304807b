"""The primitives of irax's operations, by JAX's names: `sin_p`, `dot_general_p`, ..."""

from irax.core.absent_names import missing_attribute as _missing_attribute
from irax.extend.primitive import Primitive as _Primitive
from irax.jaxprs.catalogue import primitive as _primitive


def __getattr__(name: str) -> _Primitive:
    """Return a primitive."""
    found = _primitive(name) if name.endswith("_p") else None
    if found is None:
        raise _missing_attribute(__name__, name)
    return found
