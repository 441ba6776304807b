"""jax.experimental.xla_metadata: attributes for XLA's passes, which irax takes and leaves out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


def set_xla_metadata(x: Any = None, **kwargs: Any) -> Any:
    """Return a value, or a function, as it is; without one, a context of no effect."""
    return _nothing() if x is None else x


def fuse_limit() -> contextlib.AbstractContextManager[None]:
    """Return a context of no effect."""
    return _nothing()


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def must_fuse_call(identifier: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that returns the function as it is."""
    return _itself


def xla_metadata_call(f: Callable[..., Any] | None = None, /, **meta: Any) -> Callable[..., Any]:
    """Return the function as it is; without one, a decorator that does."""
    return _itself if f is None else f


def xla_metadata_call2(
    f: Callable[..., Any] | None = None, /, metadata: Any = None, *, ad_metadata: Any = "same"
) -> Callable[..., Any]:
    """Return the function as it is; without one, a decorator that does."""
    return _itself if f is None else f
