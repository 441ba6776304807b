"""Random functions of arrays of all dtypes beside NumPy, and their derivatives beside
those of the evaluator and finite differences.

`make fuzz` runs thousands (`trials.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.differential.random.random_functions import IRAX, PLAIN, Kind, RandomFunction
from tests.differential.random.random_steps import EDGES, EXACT, LARGE, SMOOTH, SMOOTH_EDGES
from tests.differential.random.trials import (
    Trial,
    batches,
    check,
    differences,
    exact,
    functions,
    plain,
)

import irax
import irax.numpy as jnp


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    with irax.enable_x64():
        yield


@batches(100, few=100)
def test_the_evaluator_agrees_with_numpy(numbers: Sequence[int]) -> None:
    for kind, label in ((EXACT, 1), (SMOOTH, 2), (EDGES, 6)):
        for f in functions(kind, label, numbers):
            trial = Trial(str(f), list, (), plain(f), kind.smooth)
            assert not differences(f(IRAX, *map(jnp.asarray, f.arguments())), trial), trial.name


@batches(24, few=24)
@pytest.mark.parametrize("kind", [EXACT, EDGES, LARGE], ids=["exact", "edges", "large"])
@pytest.mark.parametrize("is_donated", [False, True])
@pytest.mark.slow
def test_compiled_functions_agree_with_numpy(
    kind: Kind, is_donated: bool, numbers: Sequence[int]
) -> None:
    check([exact(f) for f in functions(kind, 1 + is_donated, numbers)], is_donated)


@batches(24, few=24)
@pytest.mark.parametrize("kind", [EXACT, EDGES, LARGE], ids=["exact", "edges", "large"])
@pytest.mark.slow
def test_lanes_agree_with_numpy(kind: Kind, numbers: Sequence[int]) -> None:
    check([_lanes(f) for f in functions(kind, 3, numbers)])


def _lanes(f: RandomFunction, size: int = 2) -> Trial:
    arrays = list(map(np.stack, zip(*map(f.arguments, range(size)), strict=True)))
    expected = list(map(np.stack, zip(*(plain(f, lane) for lane in range(size)), strict=True)))
    return Trial(str(f), irax.vmap(lambda *xs: f(IRAX, *xs)), arrays, expected)


def _loss(library: Any, f: RandomFunction) -> Callable[..., Any]:
    """The sum of the squares of a function's results."""

    def loss(*arrays: Any) -> Any:
        total = np.zeros(())
        for y in f(library, *arrays):
            if np.dtype(y.dtype).kind in "fc":
                total = total + 0.5 * library.np.sum(library.np.real(y * y))
        return total * 1.0

    return loss


def _first(f: RandomFunction) -> Callable[..., list[Any]]:
    places = tuple(range(len(f.shapes)))
    of = irax.value_and_grad(_loss(IRAX, f), places)
    return lambda *xs: irax.tree.leaves(of(*xs))


def _second(f: RandomFunction) -> Callable[..., list[Any]]:
    """The gradient, and its tangent."""
    gradient = irax.grad(_loss(IRAX, f), tuple(range(len(f.shapes))))

    def of(*xs: Any) -> list[Any]:
        tangents = tuple(x * 0.5 + 0.25 for x in xs)
        return irax.tree.leaves(irax.jvp(gradient, xs, tangents))

    return of


def _of_lanes(f: RandomFunction) -> Callable[..., list[Any]]:
    gradient = irax.vmap(irax.grad(_loss(IRAX, f), tuple(range(len(f.shapes)))))
    return lambda *xs: irax.tree.leaves(gradient(*(jnp.stack([x, x * 0.5]) for x in xs)))


@pytest.mark.parametrize("derivative", [_first, _second, _of_lanes])
@pytest.mark.parametrize("kind", [SMOOTH, SMOOTH_EDGES], ids=["smooth", "edges"])
@batches(12, few=12)
@pytest.mark.slow
def test_compiled_derivatives_agree_with_the_evaluator(
    kind: Kind, derivative: Callable[..., Any], numbers: Sequence[int]
) -> None:
    trials = []
    for f in functions(kind, 4, numbers):
        function, arrays = derivative(f), f.arguments()
        expected = [np.asarray(x) for x in function(*map(jnp.asarray, arrays))]
        trials.append(Trial(str(f), function, arrays, expected, is_rounded=True))
    check(trials)


@batches(50, few=50)
@pytest.mark.parametrize("kind", [SMOOTH, SMOOTH_EDGES], ids=["smooth", "edges"])
def test_gradients_are_finite_differences(kind: Kind, numbers: Sequence[int]) -> None:
    for f in functions(kind, 5, numbers):
        arrays, rng = f.arguments(), np.random.default_rng(numbers[0])
        directions = [rng.uniform(-1, 1, x.shape) for x in arrays]
        loss = _loss(PLAIN, f)

        def at(step: float, arrays=arrays, directions=directions, loss=loss) -> float:
            moved = zip(arrays, directions, strict=True)
            return float(np.real(loss(*(x + step * d for x, d in moved))))

        left, right = ((at(h) - at(0)) / h for h in (-1e-6, 1e-6))
        scale = 1 + abs(at(0)) + abs(right)
        if abs(left - right) > 1e-3 * scale:  # there is a kink, or it bends a lot
            continue
        _, *slopes = _first(f)(*map(jnp.asarray, arrays))
        pairs = zip(slopes, directions, strict=True)
        found = sum(float(np.sum(np.real(np.asarray(s)) * d)) for s, d in pairs)
        assert abs(found - (left + right) / 2) < 2e-3 * scale, str(f)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        (SMOOTH, (6, 4, 503)),
        (SMOOTH, (5100, 4, 5)),
        (SMOOTH_EDGES, (5301, 105, 198)),
        (replace(SMOOTH, steps=5), (7002, 105, 1021)),
    ],
)
@pytest.mark.slow
def test_second_derivatives_that_were_wrong(kind: Kind, seed: tuple[int, ...]) -> None:
    """IREE needs more than ten rounds of simplifying for the convolutions of one; of the next,
    kernels in branches and around them read constants; in the third, one scatter wrote to zeros
    that another copied; in the last, IREE made a select of a branch of arrays.
    """
    f = RandomFunction(kind, seed)
    function, arrays = _second(f), f.arguments()
    expected = [np.asarray(x) for x in function(*map(jnp.asarray, arrays))]
    check([Trial(str(f), function, arrays, expected, is_rounded=True)])
