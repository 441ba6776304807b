"""Types of transformed functions, as checkers see them: `make lint` checks it, nothing runs it."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from collections.abc import Callable
from typing import Any, assert_type

import irax
from irax import Array
from irax.execution.jitted import PjitFunction


def f(x: Array, n: int = 1) -> Array:
    return x * n


def transformations_keep_signatures(x: Array) -> None:
    assert_type(irax.jit(f)(x, n=2), Array)
    assert_type(irax.vmap(f)(x, 2), Array)
    assert_type(irax.value_and_grad(f)(x, n=2), tuple[Array, Any])
    assert_type(irax.named_call(f)(x), Array)
    as_is: Callable[[Array, int], Any] = irax.grad(f)
    as_is(x, 2)


def wrong_arguments_are_told(x: Array) -> None:
    irax.jit(f)(x, 2, 3)  # pyright: ignore[reportCallIssue]
    irax.grad(f)("x")  # pyright: ignore[reportArgumentType]
    irax.vmap(f)(x, m=1)  # pyright: ignore[reportCallIssue]


@irax.jit(static_argnames="n")
def decorated(x: Array, n: int) -> Array:
    return x * n


def decorators_keep_signatures(x: Array) -> None:
    assert_type(decorated(x, 1), Array)
    compiled: PjitFunction[..., Array] = decorated
    compiled.lower(x, 1)
