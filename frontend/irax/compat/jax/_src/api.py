"""jax._src.api: irax's transformations, as the package has them, and parts of them."""

from collections.abc import Callable as Callable
from collections.abc import Sequence as Sequence
from functools import partial as partial
from typing import Any

import irax
from irax.compat.jax._src.jacobians import _check_input_dtype_jacfwd as _check_input_dtype_jacfwd
from irax.compat.jax._src.jacobians import _check_input_dtype_jacrev as _check_input_dtype_jacrev
from irax.compat.jax._src.jacobians import _check_output_dtype_jacfwd as _check_output_dtype_jacfwd
from irax.compat.jax._src.jacobians import _check_output_dtype_jacrev as _check_output_dtype_jacrev
from irax.compat.jax._src.jacobians import _ensure_index as _ensure_index
from irax.compat.jax._src.jacobians import _jacfwd_unravel as _jacfwd_unravel
from irax.compat.jax._src.jacobians import _jacrev_unravel as _jacrev_unravel
from irax.compat.jax._src.jacobians import _jvp as _jvp
from irax.compat.jax._src.jacobians import _std_basis as _std_basis
from irax.compat.jax._src.jacobians import _vjp as _vjp
from irax.compat.jax._src.jacobians import argnums_partial2 as argnums_partial2


def __getattr__(name: str) -> Any:
    return getattr(irax, name)
