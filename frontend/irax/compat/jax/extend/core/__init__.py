"""jax.extend.core: irax.extend.core, and names that are in `jax.core` in irax's layout."""

import irax.extend.core
from irax.compat.jax._src.core import AbstractToken as AbstractToken
from irax.compat.jax._src.core import DebugInfo as DebugInfo
from irax.compat.jax._src.core import JaxprTypeError as JaxprTypeError
from irax.compat.jax._src.core import check_jaxpr as check_jaxpr
from irax.compat.jax._src.core import (
    unsafe_get_axis_names_DO_NOT_USE as unsafe_get_axis_names_DO_NOT_USE,
)
from irax.compat.jax._src.effects import Effects as Effects
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.extend.core)
