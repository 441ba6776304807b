"""jax._src.random.prng: what JAX's pickles of typed keys name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from irax.core.dtypes.kinds import KeyType as KeyTy
from irax.core.key_arrays import KeyArray as PRNGKeyArray

__all__ = ["KeyTy", "PRNGImpl", "PRNGKeyArray"]


class PRNGImpl(NamedTuple):
    """A generator of random bits, as JAX describes it; irax looks at its name."""

    key_shape: tuple[int, ...]
    seed: Callable[..., Any]
    split: Callable[..., Any]
    random_bits: Callable[..., Any]
    fold_in: Callable[..., Any]
    name: str = "<unnamed>"
    tag: str = "?"


PRNGImpl.__module__ = "jax._src.random.prng"
