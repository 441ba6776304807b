"""jax._src.api: irax's transformations, as the package has them."""

from typing import Any

import irax


def __getattr__(name: str) -> Any:
    return getattr(irax, name)
