"""jax._src.checkify: another name of jax.experimental.checkify."""

from typing import Any

from irax.experimental.checkify import *  # noqa: F403

Out = Any
