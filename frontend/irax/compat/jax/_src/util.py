"""jax._src.util: maps over sequences of one length."""

from collections.abc import Iterable
from typing import Any

from irax.compat.jax.api_util import safe_map as safe_map


def safe_zip(*args: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of sequences of one length.

    Raises:
        ValueError: their lengths differ.
    """
    return list(zip(*args, strict=True))
