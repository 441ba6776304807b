"""Jitted functions that call jitted functions."""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

import irax
from irax.core.refs import refs
from irax_compiler import mlir

SCALAR = irax.ShapeDtypeStruct((), "float32")


def nested(depth: int) -> Callable[..., Any]:
    def halved_and_one(inner: Callable[..., Any]) -> Callable[..., Any]:
        return irax.jit(lambda x: inner(x) * 0.5 + 1.0)

    function: Any = lambda x: x
    for _ in range(depth):
        function = halved_and_one(function)
    return function


def test_no_level_copies_those_below(monkeypatch: pytest.MonkeyPatch):
    copied: list[str] = []
    copy = mlir.copy_functions

    def counting(source: Any, name: str, target: Any) -> dict[str, str]:
        names = copy(source, name, target)
        copied.extend(names)
        return names

    monkeypatch.setattr(mlir, "copy_functions", counting)
    assert nested(40)(2.0) == 2.0
    assert irax.grad(nested(40))(2.0) == 0.5**40
    assert len(copied) == 40  # once, into the module of the gradient


@pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="Python 3.12 limits calls by way of C on its own"
)
def test_five_hundred_levels_where_python_allows_them():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert irax.jit(nested(500)).trace(2.0).out_info.shape == ()
    finally:
        sys.setrecursionlimit(limit)


def test_a_hundred_levels_are_allowed_below_a_thousand_frames(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(refs, "exist", lambda: False)  # with Refs, each level takes more frames
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000 + len(inspect.stack()))
    try:
        assert nested(100)(2.0) == 2.0
    finally:
        sys.setrecursionlimit(limit)


def test_too_many_levels_are_told():
    with pytest.raises(RecursionError, match=r"\d\d+ jitted functions call each other.*outermost"):
        nested(1000)(2.0)
    assert nested(3)(2.0) == 2.0


def test_a_function_is_traced_once_for_all_that_call_it():
    traced: list[str] = []

    @irax.jit
    def inner(x: Any) -> Any:
        traced.append("inner")
        return x * 2.0

    assert irax.jit(lambda x: inner(x) + inner(x + 1.0))(1.0) == 6.0
    assert irax.jit(lambda x: inner(x) - 1.0)(1.0) == 1.0
    assert irax.grad(lambda x: inner(x))(1.0) == 2.0
    assert inner(irax.numpy.multiply(3.0, 1.0)) == 6.0
    assert traced == ["inner"]


def test_what_was_traced_for_a_function_that_failed_is_forgotten():
    @irax.jit
    def inner(x: Any) -> Any:
        return x * 2.0

    @irax.jit
    def outer(x: Any) -> Any:
        y = inner(x)
        if fails:
            raise ValueError("not yet")
        return y + inner(x)

    fails = True
    with pytest.raises(ValueError, match="not yet"):
        outer(1.0)
    assert inner(1.0) == 2.0
    fails = False
    assert outer(1.0) == 4.0


def test_what_fails_inside_and_is_caught_leaves_the_rest_alone():
    @irax.jit
    def inner(x: Any) -> Any:
        return x * 2.0

    @irax.jit
    def failing(x: Any) -> Any:
        inner(x)
        raise ValueError("always")

    @functools.partial(irax.jit, inline=False)
    def outer(x: Any) -> Any:
        try:
            return failing(x)
        except ValueError:
            return inner(x) + inner(inner(x))

    assert outer(1.0) == 6.0
    assert irax.vmap(outer)(irax.numpy.arange(3.0)).tolist() == [0.0, 6.0, 12.0]
    assert inner(1.0) == 2.0


def test_a_call_that_names_one_function_twice_is_copied_with_one():
    @irax.custom_jvp
    def doubled(x):
        return 2 * x

    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2 * tangents[0]))
    closed = irax.make_jaxpr(lambda x: doubled(x) + 1)(1.0)
    lowered = irax.jit(irax.extend.core.jaxpr_as_fun(closed)).lower(1.0)
    module = mlir.parse_module(lowered.as_text())  # which is refused if two have one name
    assert len(mlir.functions(module)) == 4
