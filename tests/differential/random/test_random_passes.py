"""Random functions for passes that random programs of other kinds seldom reach: compiled, beside
NumPy. What passes leave to others because it is small is for them here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.differential.random import random_steps
from tests.differential.random.random_functions import IRAX, PLAIN, RandomFunction
from tests.differential.random.trials import (
    SEED,
    Trial,
    batches,
    check,
    differences,
    exact,
    functions,
)

import irax
import irax.numpy as jnp
from irax.experimental import io_callback
from irax_compiler.passes import by_name
from irax_compiler.passes.core import PASSES
from irax_compiler.passes.host import donated
from irax_compiler.passes.kernels.blas import calls
from irax_compiler.passes.kernels.elementwise import search as elementwise
from irax_compiler.passes.kernels.elementwise import seeds
from irax_compiler.passes.kernels.fuse_kernels import pairs
from irax_compiler.passes.kernels.loops import kernels as loops
from irax_compiler.passes.kernels.piecewise import search
from irax_compiler.passes.kernels.reductions import dispatches
from irax_compiler.passes.kernels.reductions import kernels as reductions
from irax_compiler.passes.optimize.outline_components import OutlineComponents
from irax_compiler.passes.repairs import merge_kernels


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    with irax.enable_x64():
        yield


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (search, seeds, elementwise):
        monkeypatch.setattr(module, "MANY", 64)


@batches(12, few=12)
@pytest.mark.slow
def test_piecewise(pieces: None, numbers: Sequence[int]) -> None:
    check([exact(f) for f in functions(random_steps.PIECES, 11, numbers)])


@pytest.fixture
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (calls, dispatches, pairs):
        monkeypatch.setattr(module, "workers_of", lambda function: 2)


@batches(8, few=8)
@pytest.mark.slow
def test_chain(two_workers: None, numbers: Sequence[int]) -> None:
    check([exact(f) for f in functions(random_steps.HEADS, 12, numbers)])


@pytest.fixture
def few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_kernels, "MergeKernels", partial(merge_kernels.MergeKernels, many=2))


@batches(6, few=6)
@pytest.mark.slow
def test_merge(few_kernels: None, numbers: Sequence[int]) -> None:
    """Each function is there four times, with other numbers."""
    kind = random_steps.ALIKE
    alike = [RandomFunction(kind, (SEED, 13, n), i) for n in numbers for i in range(4)]
    check([exact(f) for f in alike])


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels overwrite donated arrays, however small."""
    for module in (donated, elementwise, reductions, loops):
        monkeypatch.setattr(module, "WORTH_TAKING", 1)


@batches(30, few=30)
@pytest.mark.parametrize("is_donated", [False, True])
@pytest.mark.slow
def test_split(given_up: None, numbers: Sequence[int], is_donated: bool) -> None:
    """Functions of many arrays, which one number depends on, and which depend on it."""
    fs = [f for kind in _SMALL for f in functions(kind, 14, numbers)]
    trial = _joined([exact(f) for f in fs])
    assert len(trial.arrays) + len(trial.expected) > 256
    check([trial], is_donated)


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    by_name()
    monkeypatch.setitem(PASSES, "outline-components", partial(OutlineComponents, many=3, bound=8))


@batches(5, few=5)
@pytest.mark.parametrize("is_donated", [False, True])
@pytest.mark.slow
def test_components(
    given_up: None, few_parts: None, numbers: Sequence[int], is_donated: bool
) -> None:
    """Each function is there for many arrays."""
    fs = functions(random_steps.EXACT, 15, numbers)
    count = 300 // sum(len(f.shapes) + 2 for f in fs) + 2
    trial = _joined([exact(f, lane) for lane in range(count) for f in fs])
    check([trial], is_donated)


@pytest.mark.parametrize("seed", [(3, 15, 3), (11, 15, 2)])
@pytest.mark.slow
def test_parts_that_were_refused(few_parts: None, seed: tuple[int, ...]) -> None:
    """One returns what another part made, one has a reduction that uses a value from outside."""
    f = RandomFunction(random_steps.EXACT, seed)
    check([_joined([exact(f, lane) for lane in range(65)])])


@pytest.mark.slow
def test_branches_that_choose_single_elements(given_up: None, few_parts: None) -> None:
    """IREE makes selects of them, and one kernel of all selects, which had 43 arrays."""
    fs = [RandomFunction(random_steps.EXACT, (38103, 15, n)) for n in range(5)]
    check([_joined([exact(f, lane) for lane in range(20) for f in fs])])


_SMALL = (random_steps.EXACT, random_steps.ALIKE)


def _joined(trials: Sequence[Trial]) -> Trial:
    """Functions as one, whose results are zeros where a result of too many others is positive."""

    def joined(np_: Any, results: Sequence[Sequence[Any]]) -> list[Any]:
        number = sum(np_.any(np_.real(first) > 0).astype(np.int32) for first, *_ in results)
        even = number % 2 == 0
        return [np_.where(even, x, x.dtype.type(0)) for xs in results for x in xs]

    counts = [len(t.arrays) for t in trials]

    def function(*arrays: Any) -> list[Any]:
        given = iter(arrays)
        parts = [[next(given) for _ in range(n)] for n in counts]
        return joined(jnp, [t.function(*xs) for t, xs in zip(trials, parts, strict=True)])

    arrays = [x for t in trials for x in t.arrays]
    expected = joined(np, [t.expected for t in trials])
    return Trial(f"{trials[0].name} and others", function, arrays, expected)


@batches(8, few=8)
@pytest.mark.slow
def test_host_steps(numbers: Sequence[int]) -> None:
    """The host is told the same values in the same order."""
    _check_what_hosts_are_told(functions(random_steps.HOSTED, 16, numbers))


@pytest.mark.parametrize(
    ("steps", "seed", "numbers"),
    [
        (random_steps.HOSTED.steps, 5303, [109]),
        (5, 7001, [223]),
        (random_steps.HOSTED.steps, 8001, [185, 187, 189]),
        (random_steps.HOSTED.steps, 38105, [19]),
        (random_steps.HOSTED.steps, 38108, range(24, 32)),
        (random_steps.HOSTED.steps, 38120, range(16, 24)),
        (random_steps.HOSTED.steps, 38201, [31]),
    ],
)
@pytest.mark.slow
def test_host_steps_that_were_refused(steps: int, seed: int, numbers: Sequence[int]) -> None:
    """For the host, a branch chooses between a constant and what comes from outside; a counted loop
    in a branch begins with a constant; loops before, between and in branches begin with one number;
    branches choose between an argument and a constant; loops yield constants.
    """
    kind = replace(random_steps.HOSTED, steps=steps)
    _check_what_hosts_are_told([RandomFunction(kind, (seed, 16, n)) for n in numbers])


def _check_what_hosts_are_told(fs: Sequence[RandomFunction]) -> None:
    expected, found = ([[] for _ in fs] for _ in range(2))
    trials = []
    for f, seen, seen_here in zip(fs, expected, found, strict=True):
        library = SimpleNamespace(**vars(PLAIN), tell=_noting(seen))
        with np.errstate(all="ignore"):
            results = [np.asarray(x) for x in f(library, *f.arguments())]
        trials.append(Trial(str(f), _telling(f, seen_here), f.arguments(), results))
    results = irax.jit(
        lambda given: [t.function(*xs) for t, xs in zip(trials, given, strict=True)]
    )([t.arrays for t in trials])
    irax.effects_barrier()
    for trial, result, seen, seen_here in zip(trials, results, expected, found, strict=True):
        assert not differences(result, trial), trial.name
        told = Trial(trial.name, trial.function, (), seen)
        assert len(seen) == len(seen_here), trial.name
        assert not differences(seen_here, told), trial.name


def _noting(seen: list[np.ndarray]) -> Callable[[Any], Any]:
    def note(x: Any) -> Any:
        seen.append(np.array(x))
        return x

    return note


def _telling(f: RandomFunction, seen: list[np.ndarray]) -> Callable[..., list[Any]]:
    note = _noting(seen)

    def tell(x: Any) -> Any:
        return io_callback(note, irax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=True)

    return lambda *xs: f(SimpleNamespace(**vars(IRAX), tell=tell), *xs)
