"""`irax check`: what must hold for any function, tried on random inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import api, mlir
from irax_compiler.iree.invocation import CompileError
from irax_compiler.ops.core import UnsupportedOp
from irax_tools import arrays, derive, promises, smoothness
from irax_tools.children import run_job
from irax_tools.noise import noise
from irax_tools.programs import REFERENCE, argument_types, check_operands, program
from irax_tools.sources import Source

REFUSALS = (UnsupportedOp, CompileError)
"""Errors that refuse a program, which are no failures of agreement."""

Arrays = Sequence[np.ndarray[Any, Any]]

LANES = 3
_STEP = {"float32": 1e-2, "float64": 1e-4}
"""The steps of finite differences; a dtype with too few digits has none."""
_SLOPES = {"float32": 2e-2, "float64": 1e-5}
"""The tolerance of a difference quotient with such a step."""
_DIGITS = {2: 2e-2, 4: 2e-4, 8: 1e-9}
"""For each size of numbers in bytes, their tolerance after a few operations."""


class Failed(Exception):
    """A property does not hold. The message says how far from it."""


class NotTried(Exception):
    """A property says nothing about a function. The message says why."""


@dataclass(frozen=True)
class Changed:
    """Passes to try, in place of those that irax would run."""

    pipeline: Sequence[api.Pass] | None = None
    """Passes that must leave what a function computes."""
    lowering: Sequence[api.Pass] | None = None
    """Passes that lower for the processor, in place of all that the target has."""


@dataclass(frozen=True)
class Row:
    """The outcome for one property."""

    name: str
    outcome: str
    """ok, FAILED, refused or not tried"""
    detail: str = ""
    kind: str = ""
    """The way in which it failed or was refused: the name of an exception, or of a signal."""
    output: str = ""
    """The text that was written while it failed."""
    seconds: float = 0.0
    """The time that it took."""
    inputs: Arrays = ()
    """The inputs for which it failed."""
    seed: int = 0
    """The seed of the tangents for which it failed."""


@dataclass
class Trial:
    """A function, and inputs to try it on."""

    source: Source
    inputs: Arrays
    random: np.random.Generator
    changed: Changed = field(default_factory=Changed)
    remark: str = ""
    """A word on a property that holds."""

    def evaluate(self, source: Source, inputs: Arrays) -> Arrays:
        """The results in the evaluator."""
        return program(source, REFERENCE)(inputs)

    def noise(self, inputs: Arrays, results: Arrays) -> list[float]:
        """Estimate how far rounding may move the results for some inputs."""
        return noise(program(self.source, REFERENCE), inputs, results)

    def active(self) -> list[int]:
        """The arguments that have tangents."""
        found = [i for i, x in enumerate(self.inputs) if mlir.inexact(x.dtype)]
        if not found:
            raise NotTried("no argument of a floating-point type")
        return found

    def directions(self, arrays: Arrays) -> Arrays:
        """A random tangent or cotangent for each array that has one."""
        return [draw(self.random, x.shape, x.dtype) for x in arrays if mlir.inexact(x.dtype)]


# ---- properties ----------------------------------------------------------------------------------


def text_round_trip(trial: Trial) -> None:
    """The module is what its text, and its bytecode, say."""
    text = mlir.text_of(trial.source.module.operation)
    for form in (text, mlir.bytecode(trial.source.module)):
        if mlir.text_of(mlir.parse_module(form).operation) != text:
            raise Failed(f"differs when read again from {type(form).__name__}")


def evaluator_against_iree(trial: Trial) -> None:
    """Compiled for the processor, it computes what the evaluator computes."""
    expected = trial.evaluate(trial.source, trial.inputs)
    passes = trial.changed.lowering
    compiled = program(trial.source, "cpu", *(() if passes is None else (passes,)))
    close(compiled(trial.inputs), expected, lambda: trial.noise(trial.inputs, expected))


def evaluator_before_and_after(trial: Trial) -> None:
    """After the passes of a pipeline, it computes what it did before."""
    if trial.changed.pipeline is None:
        raise NotTried("no --pipeline")
    expected = trial.evaluate(trial.source, trial.inputs)
    module = mlir.clone_module(trial.source.module)
    api.run_passes(module, trial.changed.pipeline)
    found = trial.evaluate(Source(module, trial.source.func), trial.inputs)
    close(found, expected, lambda: trial.noise(trial.inputs, expected))


def jvp_against_differences(trial: Trial) -> None:
    """Its derivative along a direction is the limit of its difference quotients."""
    active = trial.active()
    derivative = derive.jvp(trial.source, None)
    tangents = trial.directions(trial.inputs)
    outputs = trial.evaluate(derivative, [*trial.inputs, *tangents])
    values = outputs[: len(mlir.result_types(_function(trial.source)))]
    slopes = outputs[len(values) :]
    name = _shortest([*(trial.inputs[i] for i in active), *slopes])
    if name not in _STEP:
        raise NotTried(f"{name} has too few digits for differences")
    if not slopes:
        raise NotTried("no result of a floating-point type")

    center = [wide(r) for r in values if mlir.inexact(r.dtype)]

    @cache
    def sides(step: float) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """The quotients forward and backward."""
        ends = []
        for sign in (1, -1):
            moved = list(trial.inputs)
            for i, tangent in zip(active, tangents, strict=True):
                moved[i] = (moved[i] + sign * step * tangent).astype(tangent.dtype)
            found = trial.evaluate(trial.source, moved)
            ends.append([wide(r) for r in found if mlir.inexact(r.dtype)])
        return [
            ((above - x) / step, (x - below) / step)
            for x, above, below in zip(center, *ends, strict=True)
        ]

    def quotients(step: float) -> Iterator[np.ndarray[Any, Any]]:
        return ((forward + backward) / 2 for forward, backward in sides(step))

    @cache
    def noise_of_both() -> list[tuple[float, float]]:
        """The noise of each slope, and of the value that quotients are made of."""
        inputs = [*trial.inputs, *tangents]
        found = noise(lambda x: trial.evaluate(derivative, x), inputs, outputs)
        of_values = [n for n, r in zip(found, values, strict=False) if mlir.inexact(r.dtype)]
        return list(zip(found[len(values) :], of_values, strict=True))

    def noise_of_slope(number: int, step: float) -> float:
        own, value = noise_of_both()[number]
        return own + value / step

    tolerance, smooth_elements = _SLOPES[name], 0
    both = zip(quotients(_STEP[name]), quotients(_STEP[name] / 2), strict=True)
    for i, (found, (coarse, fine)) in enumerate(zip(slopes, both, strict=True)):
        scale = np.abs(fine) + _largest(fine) * tolerance + 1
        # Where two steps disagree there is a kink or a jump between, and nothing to compare.
        smooth = np.isfinite(fine) & (np.abs(coarse - fine) <= tolerance * scale)
        smooth_elements += np.count_nonzero(smooth)
        error = np.where(smooth, np.abs(wide(found) - fine), 0)
        beyond = error - 3 * tolerance * scale
        if beyond.max(initial=0) <= 0 or beyond.max() <= noise_of_slope(i, _STEP[name]):
            continue
        wrong = smoothness.rounds(trial.source) is None and smoothness.is_wrong(
            wide(found), beyond > 0, sides, i, _STEP[name], tolerance, partial(noise_of_slope, i)
        )
        if np.any(wrong):
            off = np.where(wrong, error, 0).max()
            raise Failed(f"off by {off:.2g}, of slopes up to {_largest(fine):.2g}")
        trial.remark = f"not smooth here: {smoothness.rough(trial.source)}".rstrip(": ")
    if not smooth_elements:
        where = smoothness.rough(trial.source)
        told = f"not smooth here: {where}" if where else "not smooth, or not finite"
        raise NotTried(f"{told}, where it was tried")


def vjp_against_jvp(trial: Trial) -> None:
    """<u, jvp v> = <vjp u, v>: reverse mode is the transpose of forward mode."""
    trial.active()
    tangents = trial.directions(trial.inputs)
    forward, backward = derive.jvp(trial.source, None), derive.vjp(trial.source, None)
    outputs = trial.evaluate(forward, [*trial.inputs, *tangents])
    count = len(mlir.result_types(_function(trial.source)))
    slopes = outputs[count:]
    if not slopes:
        raise NotTried("no result of a floating-point type")
    cotangents = trial.directions(outputs[:count])
    reverse = trial.evaluate(backward, [*trial.inputs, *cotangents])
    close(reverse[:count], outputs[:count], lambda: trial.noise(trial.inputs, outputs[:count]))
    left, size_left = _inner(cotangents, slopes)
    right, size_right = _inner(reverse[count:], tangents)
    if not np.isfinite([left, right]).all():
        raise NotTried("not finite where it was tried")

    def both(inputs: Arrays) -> Arrays:
        found = trial.evaluate(forward, [*inputs, *tangents])[count:]
        back = trial.evaluate(backward, [*inputs, *cotangents])[count:]
        return [np.array(_inner(cotangents, found)[0]), np.array(_inner(back, tangents)[0])]

    shortest = np.dtype(mlir.DTYPES["bf16"])
    name = _shortest([*tangents, *slopes])
    itemsize = np.dtype(name).itemsize if name in ("float32", "float64") else shortest.itemsize
    beyond = abs(left - right) - 5 * _DIGITS[itemsize] * (size_left + size_right + 1e-30)
    if beyond > 0 and beyond > sum(noise(both, trial.inputs, [np.array(left), np.array(right)])):
        raise Failed(f"<u, jvp v> = {left:.6g}, <vjp u, v> = {right:.6g}")


def vmap_against_loop(trial: Trial) -> None:
    """Batched over all its arguments, it does what it does for each alone."""
    if not trial.inputs:
        raise NotTried("no arguments")
    batched = derive.vmap(trial.source, LANES)
    lanes = [trial.inputs] + [_drawn(trial.source, trial.random) for _ in range(LANES - 1)]
    expected = [trial.evaluate(trial.source, lane) for lane in lanes]
    found = trial.evaluate(batched, [np.stack(arrays) for arrays in zip(*lanes, strict=True)])

    def noise_of_lanes() -> list[float]:
        each = [trial.noise(lane, results) for lane, results in zip(lanes, expected, strict=True)]
        return [max(column) for column in zip(*each, strict=True)]

    close(found, [np.stack(arrays) for arrays in zip(*expected, strict=True)], noise_of_lanes)


PROPERTIES: dict[str, tuple[Callable[[Trial], None], str]] = {
    "text round trip": (text_round_trip, "no text"),
    "evaluator = IREE": (evaluator_against_iree, "not compiled"),
    "jvp = differences": (jvp_against_differences, "no derivative"),
    "<u, jvp v> = <vjp u, v>": (vjp_against_jvp, "no derivative"),
    "vmap = loop": (vmap_against_loop, "no batching"),
}
"""Each property, and what it means that an operation's rule refuses by name."""

OF_PIPELINES = {"before = after": (evaluator_before_and_after, "not run")}
"""Properties of pipelines."""


# ---- trying them ---------------------------------------------------------------------------------


def check_source(
    source: Source,
    trials: int,
    seed: int,
    inputs: Arrays | None = None,
    changed: Changed = Changed(),
    limit: float | None = None,
) -> Iterator[Row]:
    """A row for each property, tried on random inputs or on those given, in a process of its own
    and for at most `limit` seconds.

    Raises UnsupportedOp for what irax cannot run at all, and TypeError for inputs of other types
    than the function's.
    """
    api.check(source.module, source.func)
    if inputs is not None:
        inputs = arrays.typed(inputs, [dtype for _, dtype in argument_types(source)])
        check_operands(source, inputs)
    properties = PROPERTIES if changed.pipeline is None else {**OF_PIPELINES, **PROPERTIES}
    for name in properties:
        yield try_alone(name, source, range(seed, seed + trials), inputs, changed, limit)


def try_alone(
    name: str,
    source: Source,
    seeds: Sequence[int],
    inputs: Arrays | None = None,
    changed: Changed = Changed(),
    limit: float | None = None,
) -> Row:
    """Try a property in a process of its own: what ends that process is a failure, too."""
    row = Row(name, "FAILED", inputs=inputs or (), seed=seeds[0])
    ending = run_job(partial(_try, name, source, seeds, inputs, changed), limit)
    if ending.how == "returned":
        if isinstance(ending.result, Exception):
            raise ending.result
        said = ending.result.output or ending.output
        return replace(ending.result, output=said, seconds=ending.seconds)
    inputs = trial_of(source, seeds[0], inputs).inputs
    told = f"takes more than {limit:g} s" if ending.how == "time" else f"ends with {ending.how}"
    return replace(row, detail=told, kind=ending.how, inputs=inputs, output=ending.output)


def _try(
    name: str, source: Source, seeds: Sequence[int], inputs: Arrays | None, changed: Changed
) -> Row:
    tried, refused = {**OF_PIPELINES, **PROPERTIES}[name]
    reasons: list[str] = []
    remarks: dict[str, None] = {}
    for number in seeds:
        trial = trial_of(source, number, inputs, changed)
        found = partial(Row, inputs=trial.inputs, seed=number)
        try:
            if tried is not text_round_trip and not promises.are_kept(source, trial.inputs):
                raise NotTried("windows overlap, and unique_indices promises that none do")
            tried(trial)
            remarks[trial.remark] = None
        except NotTried as reason:
            reasons.append(str(reason))
        except REFUSALS as error:
            detail = f"{refused}: {_first_line(error)}"
            return found(name, "refused", detail, type(error).__name__, str(error))
        except Exception as error:
            return found(name, "FAILED", _first_line(error), type(error).__name__)
    if len(reasons) == len(seeds):
        return Row(name, "not tried", reasons[0])
    return Row(name, "ok", next(filter(None, remarks), ""))


def trial_of(
    source: Source, seed: int, inputs: Arrays | None = None, changed: Changed = Changed()
) -> Trial:
    """Random inputs of the types of a function's arguments, or those given."""
    random = np.random.default_rng(seed)
    if inputs is None:
        inputs = _drawn(source, random)
    return Trial(source, inputs, random, changed)


def _drawn(source: Source, random: np.random.Generator) -> Arrays:
    drawn = [draw(random, *type_) for type_ in argument_types(source)]
    return promises.kept(source, drawn, random)


# ---- numbers -------------------------------------------------------------------------------------


def draw(
    random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """Random elements: standard normal ones, or small integers, which index something."""
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if not mlir.inexact(dtype):
        return random.integers(0, 3, shape).astype(dtype)
    drawn = np.asarray(random.normal(size=shape))
    if dtype.kind == "c":
        drawn = drawn + 1j * random.normal(size=shape)
    return np.asarray(drawn, dtype)


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the numbers in double precision."""
    return np.asarray(x).astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def close(found: Arrays, expected: Arrays, noise: Callable[[], list[float]]) -> None:
    """Raises Failed where results differ by more than rounding. `noise` is asked how far it may
    move each where they are far apart for their sizes.
    """
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Failed(f"result {i} is {a.dtype}{a.shape}, not {b.dtype}{b.shape}")
        part = b.dtype.itemsize // (2 if b.dtype.kind == "c" else 1)
        tolerance = _DIGITS.get(part, 0.2) if mlir.inexact(b.dtype) else 0
        x, y = wide(a), wide(b)
        least = tolerance * _largest(y) + _denormal(b.dtype)
        bad = ~np.isclose(x, y, rtol=tolerance, atol=least, equal_nan=True)
        if bad.any() and mlir.inexact(b.dtype):
            bad &= ~(np.abs(x - y) <= noise()[i])
        if bad.any():
            place = tuple(int(n) for n in np.argwhere(bad)[0])
            raise Failed(f"result {i} at {place} is {a[place]}, not {b[place]}")


def _denormal(dtype: np.dtype[Any]) -> float:
    """Return the bound of the numbers that processors may take for 0."""
    return float(ml_dtypes.finfo(dtype).smallest_normal) if mlir.inexact(dtype) else 0.0


def _largest(x: np.ndarray[Any, Any]) -> float:
    finite = np.abs(x[np.isfinite(x)])
    return float(finite.max()) if finite.size else 0.0


def _inner(left: Arrays, right: Arrays) -> tuple[float, float]:
    """The inner product of two lists of arrays, and the sum of the sizes of its terms."""
    terms = [np.real(wide(x) * wide(y)).ravel() for x, y in zip(left, right, strict=True)]
    return sum(float(t.sum()) for t in terms), sum(float(np.abs(t).sum()) for t in terms)


def _shortest(arrays: Arrays) -> str:
    """The name of the real dtype with the fewest digits among some arrays'."""
    names = {"complex64": "float32", "complex128": "float64"}
    dtypes = {np.dtype(names.get(x.dtype.name, x.dtype.name)) for x in arrays}
    return min(dtypes, key=lambda d: d.itemsize).name


def _function(source: Source) -> mlir.Operation:
    return mlir.functions(source.module)[source.func]


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    text = " ".join(line.strip() for line in lines[:2])
    is_told = isinstance(error, Failed | UnsupportedOp)
    return text if is_told else f"{type(error).__name__}: {text}"
