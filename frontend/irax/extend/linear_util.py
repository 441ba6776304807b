"""Functions with transformations: layers of Python around a function of positional arguments.

f = wrap_init(function)
f = transformation(f, *parameters)     decorated: a layer around what is there
f.call_wrapped(*args)                  calls the layers, the last one first
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class StoreException(Exception):
    """A store was read before it had a value, or given a second one."""


_EMPTY = object()


class Store:
    """A place for one value, which a layer leaves for whoever made it."""

    def __init__(self) -> None:
        self._value: Any = _EMPTY

    def __bool__(self) -> bool:
        return self._value is not _EMPTY

    @property
    def val(self) -> Any:
        """The value.

        Raises:
            StoreException: there is none yet.
        """
        if self._value is _EMPTY:
            raise StoreException("Store empty: the function has not been called yet")
        return self._value

    def store(self, value: Any) -> None:
        """Keep a value.

        Raises:
            StoreException: there is one.
        """
        if self._value is not _EMPTY:
            raise StoreException("Store occupied: the function was called twice")
        self._value = value

    def reset(self) -> None:
        """Forget the value."""
        self._value = _EMPTY


class WrappedFun:
    """A function of positional arguments, as the layers around it make it.

    Attributes:
        f: the function that is called: the outermost layer.
        params: keyword arguments of the innermost function.
        debug_info: accepted and kept.
        stores: the stores of its layers, the innermost first.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        params: dict[str, Any],
        debug_info: Any = None,
        stores: tuple[Store, ...] = (),
    ) -> None:
        self.f: Callable[..., Any] = f
        self.params: dict[str, Any] = params
        self.debug_info: Any = debug_info
        self.stores: tuple[Store, ...] = stores

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return getattr(self.f, "__name__", "<unnamed wrapped function>")

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with its layers."""
        return self.f(*args, **self.params, **kwargs)

    def wrap(self, layer: Callable[..., Any], store: Store | None = None) -> WrappedFun:
        """Return the function with a layer around it, which gets what it wraps first."""
        inner = functools.partial(self.f, **self.params) if self.params else self.f
        wrapped = functools.wraps(self.f, updated=())(functools.partial(layer, inner))
        stores = self.stores if store is None else (*self.stores, store)
        return WrappedFun(wrapped, {}, self.debug_info, stores)


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: Any = None
) -> WrappedFun:
    """Return a function to put layers around."""
    return WrappedFun(f, dict(params or {}), debug_info)


Transformer = Callable[..., Any]


def transformation2(transformer: Transformer) -> Callable[..., WrappedFun]:
    """Make a layer of a function `(inner, *parameters, *args)`; a decorator."""

    @functools.wraps(transformer)
    def apply(fun: WrappedFun, *parameters: Any) -> WrappedFun:
        return fun.wrap(lambda inner, *args, **kw: transformer(inner, *parameters, *args, **kw))

    return apply


def transformation_with_aux2(
    transformer: Transformer,
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """Make a layer of a function `(inner, store, *parameters, *args)`. Applying it also returns a
    function that returns what it stored.
    """

    @functools.wraps(transformer)
    def apply(fun: WrappedFun, *parameters: Any) -> tuple[WrappedFun, Callable[[], Any]]:
        store = Store()
        layer = fun.wrap(
            lambda inner, *args, **kw: transformer(inner, store, *parameters, *args, **kw), store
        )
        return layer, lambda: store.val

    return apply


def _run(generator: Any, inner: Callable[..., Any]) -> Any:
    """Run a generator that yields the inner function's arguments, then its own result; return the
    latter.
    """
    args, kwargs = next(generator)
    result = generator.send(inner(*args, **kwargs))
    generator.close()
    return result


def transformation(transformer: Transformer) -> Callable[..., WrappedFun]:
    """Make a layer of a generator `(*parameters, *args)`, which yields the arguments of the inner
    function as `args, kwargs`, is sent its result, and yields its own.
    """
    return transformation2(
        functools.wraps(transformer)(
            lambda inner, *args, **kwargs: _run(transformer(*args, **kwargs), inner)
        )
    )


def transformation_with_aux(
    transformer: Transformer,
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """Make a layer of a generator like that of `transformation`, which yields a pair: its result,
    and a value to store. Applying it also returns a function that returns the stored value.
    """

    @functools.wraps(transformer)
    def layer(inner: Callable[..., Any], store: Store, *args: Any, **kwargs: Any) -> Any:
        result, aux = _run(transformer(*args, **kwargs), inner)
        store.store(aux)
        return result

    return transformation_with_aux2(layer)


def merge_linear_aux(aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
    """Return which of two stores has a value (True for the first), and that value."""
    try:
        found = aux1()
    except StoreException:
        return False, aux2()
    try:
        aux2()
    except StoreException:
        return True, found
    raise StoreException("merge_linear_aux: both stores have a value, expected one")


def cache(call: Callable[..., Any], *, explain: Any = None) -> Callable[..., Any]:
    """Return a function of a `WrappedFun` and hashable arguments that remembers its results."""
    results: dict[Any, Any] = {}

    @functools.wraps(call)
    def cached(fun: WrappedFun, *args: Any) -> Any:
        key = (fun.f, tuple(sorted(fun.params.items())), args)
        if key not in results:
            results[key] = call(fun, *args)
        return results[key]

    cached.cache_clear = results.clear  # pyright: ignore[reportAttributeAccessIssue]
    return cached
