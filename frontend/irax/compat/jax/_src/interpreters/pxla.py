"""jax._src.interpreters.pxla: jax.interpreters.pxla, and handlers of results, of no effect."""

from typing import Any

from irax.compat.jax.interpreters.pxla import *  # noqa: F403

global_result_handlers: dict[Any, Any] = {}
