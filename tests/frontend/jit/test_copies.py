"""Copies and pickles of what transformations return."""

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import export


def cubed(x: Any) -> Any:
    return x * x * x


@irax.jit
def decorated(x: Any) -> Any:
    return cubed(x) + 1.0


class Holder:
    @functools.partial(irax.jit, static_argnums=0)
    def scaled(self, x: Any) -> Any:
        return 3.0 * x


@irax.custom_jvp
def with_rule(x: Any) -> Any:
    return cubed(x)


with_rule.defjvp(lambda primals, tangents: (with_rule(*primals), 5.0 * tangents[0]))

MADE: dict[str, Callable[[], Callable[..., Any]]] = {
    "jit": lambda: irax.jit(cubed),
    "jit of grad": lambda: irax.jit(irax.grad(cubed)),
    "grad of jit": lambda: irax.grad(irax.jit(cubed)),
    "static": lambda: irax.jit(lambda n, x: n * x, static_argnums=0).__get__(2.0),
    "Partial": lambda: irax.tree_util.Partial(irax.jit(cubed)),
    "vjp": lambda: irax.vjp(cubed, 2.0)[1],
    "linearize": lambda: irax.linearize(cubed, 2.0)[1],
    "rule": lambda: irax.grad(with_rule),
    "lowered": lambda: irax.jit(cubed).lower(2.0).compile(),
    "exported": lambda: export.export(irax.jit(cubed))(2.0).call,
    "decorated": lambda: decorated,
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("made", MADE)
def test_copies_of_functions_that_were_called(made: str, copied: Callable[[Any], Any]):
    function = MADE[made]()
    found = function(2.0)
    again = copied({"model": [function]})["model"][0](2.0)
    assert np.array_equal(again, found)


def test_a_copy_of_a_jitted_function_shares_what_was_compiled():
    traced: list[str] = []
    f = irax.jit(lambda x, n: traced.append("once") or x * n, static_argnames="n")
    f(2.0, n=3)
    other = copy.deepcopy(f)
    assert other(4.0, n=3) == 12.0
    assert traced == ["once"]
    assert other(4.0, n=2) == 8.0


@pytest.mark.parametrize("function", [irax.jit(cubed), decorated], ids=["jit(f)", "@jit"])
def test_a_jitted_function_with_a_name_is_pickled(function: Callable[..., Any]):
    found = function(2.0)
    again = pickle.loads(pickle.dumps(function))
    assert again(2.0) == found
    assert (again is decorated) == (function is decorated)


def test_a_jitted_method_is_pickled():
    method = pickle.loads(pickle.dumps(Holder.scaled))
    assert method is Holder.scaled


@pytest.mark.parametrize(
    "made, instead",
    [
        (lambda: irax.vjp(cubed, 2.0)[1], "the function"),
        (lambda: irax.jit(cubed).lower(2.0), "the function"),
        (lambda: irax.make_ir(cubed)(2.0), "its text"),
        (lambda: export.export(irax.jit(cubed))(2.0), "serialize"),
    ],
    ids=["vjp", "lowered", "ir", "exported"],
)
def test_what_cannot_be_pickled_says_what_can(made: Callable[[], Any], instead: str):
    with pytest.raises(TypeError, match=f"cannot be pickled: pickle .*{instead}"):
        pickle.dumps(made())


def test_arrays_are_copied_with_a_function_that_holds_them():
    _, pullback = irax.vjp(lambda x: jnp.sum(x * x), jnp.arange(3.0))
    (found,) = copy.deepcopy(pullback)(1.0)
    assert np.array_equal(found, [0.0, 2.0, 4.0])
