"""Trials of random functions: several compiled as one program, compared with what is expected.

`make fuzz FUZZ=1000 SEED=3` makes IRAX_FUZZ=1000 programs of each kind, those of IRAX_SEED=3. One
that differs is named by its seed, which makes it again, and its module is left in FOLDER.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.differential.random.random_functions import IRAX, PLAIN, Kind, RandomFunction

import irax
import irax.numpy as jnp
from irax_runtime.memory import aligned_empty

FOLDER = Path(".fuzz")
COUNT = int(os.environ.get("IRAX_FUZZ", "0"))
"""The number of programs of each kind; 0: few."""
SEED = int(os.environ.get("IRAX_SEED", "0"))
TOLERANCE = 1e-9


@dataclass
class Trial:
    """A function, and what it returns."""

    name: str
    function: Callable[..., list[Any]]
    arrays: Sequence[np.ndarray]
    expected: Sequence[np.ndarray]
    is_rounded: bool = False


def batches(size: int, few: int) -> pytest.MarkDecorator:
    """Parametrize a test by the numbers of the programs of each batch; by default there are about
    `few` programs, of another seed each time that SEED is.
    """
    count = -(-(COUNT or few) // size)
    return pytest.mark.parametrize(
        "numbers", [range(i * size, (i + 1) * size) for i in range(count)]
    )


def functions(kind: Kind, label: int, numbers: Sequence[int]) -> list[RandomFunction]:
    """Return the random functions of some numbers; `label` tells kinds apart."""
    return [RandomFunction(kind, (SEED, label, number)) for number in numbers]


def plain(f: RandomFunction, lane: int = 0) -> list[np.ndarray]:
    """Return the results by NumPy."""
    with np.errstate(all="ignore"):
        return [np.asarray(x) for x in f(PLAIN, *f.arguments(lane))]


def exact(f: RandomFunction, lane: int = 0) -> Trial:
    """Return the trial of a function whose results are exact."""
    return Trial(str(f), lambda *xs: f(IRAX, *xs), f.arguments(lane), plain(f, lane))


def differences(found: Sequence[Any], trial: Trial) -> list[str]:
    """Return how results differ from what is expected."""
    told = []
    for i, (a, b) in enumerate(zip(map(np.asarray, found), trial.expected, strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            told.append(f"result {i} is {a.dtype}{a.shape}, not {b.dtype}{b.shape}")
        elif not is_same(a, b, trial.is_rounded):
            told.append(f"result {i}, {b.dtype}{b.shape}, is {_few(a)}, not {_few(b)}")
    return told


def is_same(a: np.ndarray, b: np.ndarray, is_rounded: bool) -> bool:
    a, b = a.astype(complex), b.astype(complex)
    scale = np.abs(b[np.isfinite(b)]).max(initial=1) if is_rounded else 0
    tolerance = TOLERANCE if is_rounded else 0
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def _few(x: np.ndarray) -> str:
    return np.array2string(x.reshape(-1)[:8], max_line_width=200)


def aligned(x: np.ndarray) -> np.ndarray:
    """Return a copy in memory that programs use as it is, so that what they write there shows."""
    found = aligned_empty(x.shape, x.dtype)
    found[...] = x
    return found


def check(trials: Sequence[Trial], donated: bool = False) -> None:
    """Compile trials as one program, and compare. What is not donated must be as it was."""
    run = irax.jit(_together(trials), donate_argnums=0 if donated else ())
    given = [[jnp.asarray(aligned(x)) for x in trial.arrays] for trial in trials]
    try:
        with warnings.catch_warnings():  # some donated arrays have no result like them
            warnings.filterwarnings("ignore", ".*donated buffers were not usable")
            found = run(given)
    except Exception as error:
        apart = [f"{t.name}: {problem}" for t in trials if (problem := _refused(t)) is not None]
        raise AssertionError("\n".join(apart) or f"{trials[0].name} and others: {error}") from error
    told = []
    for trial, results in zip(trials, found, strict=True):
        if problems := differences(results, trial):
            alone = "alone, too" if differences(_alone(trial), trial) else "not alone"
            told += [f"{trial.name}: {problem} ({alone})" for problem in problems]
            _keep(trial)
    for trial, arrays in zip(trials, () if donated else given, strict=not donated):
        if not all(map(_is_unchanged, arrays, trial.arrays)):
            told.append(f"{trial.name}: an argument was written")
            _keep(trial)
    assert not told, "\n".join(told)


def _is_unchanged(argument: Any, x: np.ndarray) -> bool:
    return np.asarray(argument).tobytes() == np.ascontiguousarray(x).tobytes()


def _together(trials: Sequence[Trial]) -> Callable[..., Any]:
    return lambda given: [t.function(*xs) for t, xs in zip(trials, given, strict=True)]


def _alone(trial: Trial) -> list[Any]:
    return irax.jit(trial.function)(*trial.arrays)


def _refused(trial: Trial) -> Exception | None:
    try:
        _alone(trial)
    except Exception as error:
        _keep(trial)
        return error
    return None


def _keep(trial: Trial) -> None:
    """Leave the module of a trial, which `irax reduce` makes smaller."""
    FOLDER.mkdir(exist_ok=True)
    name = "-".join(part for part in trial.name.replace("(", " ").split() if part[0].isdigit())
    (FOLDER / f"{name.replace(',', '').replace(')', '')}.mlir").write_text(
        irax.jit(trial.function).lower(*trial.arrays).as_text()
    )
