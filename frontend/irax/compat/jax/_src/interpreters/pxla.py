"""jax._src.interpreters.pxla: handlers of results, which irax does not look at."""

from typing import Any

global_result_handlers: dict[Any, Any] = {}
