"""Shadow runs: each op in its own precision, and beside it in a wider one.

Numbers of the narrow run decide: which branch is taken, how often a loop runs, which elements an
index reads. So the two runs are one program, and their difference is what rounding does to it.

An element of a float array also has a place: its number among all that were computed. Ops that move
elements move places, too, and so do the loops and calls of the evaluator, to which the three are
one array of a structured dtype. A run is thereby a straight list of events without control flow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.mlir import Module, Type, dtype_of_type, inexact
from irax_compiler.ops.callback import Callback
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.control_flow.shard_map import ShardMap
from irax_compiler.ops.control_flow.while_loops import RegionOp
from irax_compiler.ops.core import ArrayType, Op, evaluated, no_calls
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.evaluation.steps import Step
from irax_compiler.ops.linalg.lu import Solve
from irax_compiler.ops.linalg.matrices import Factorization
from irax_compiler.ops.linalg.triangular import Cholesky, TriangularSolve
from irax_compiler.ops.sorting.sort import Sort
from irax_compiler.ops.structured import Call, DefinedOp
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.precision.arithmetics import arithmetic_beside
from irax_compiler.precision.kinds import array_type, is_of_bits, is_step_function, moves
from irax_compiler.precision.wide import Array, Doubles, wide_dtype, widened

NOWHERE = -1
"""The place of elements that depend on no argument, or not by a derivative."""


@dataclass(slots=True)
class Both:
    """An array of floats as the program computes it, as a wider one does, and its places."""

    narrow: Array
    wide: Array
    where: int | Array
    """The place of the first element, if they are one after the other; or that of each."""
    errors: Array | None = None
    """The narrow numbers less the wide ones, where these were asked for (`blame.errors`)."""

    @property
    def places(self) -> Array:
        """The places of the elements."""
        if not isinstance(self.where, int):
            return self.where
        end = self.where + self.narrow.size
        dtype = np.int32 if end <= _MOST_SHORT else np.int64
        return np.arange(self.where, end, dtype=dtype).reshape(self.narrow.shape)

    def of_elements(self, numbers: Array) -> Array:
        """Return those of numbers of all places that are of the elements: maybe a view."""
        if not isinstance(self.where, int):
            return numbers[self.where]
        return numbers[self.where : self.where + self.narrow.size].reshape(self.narrow.shape)

    @property
    def is_exact(self) -> bool:
        """True for numbers that depend on no argument, as the run made them."""
        if isinstance(self.where, int) or any(self.where.strides) or not self.where.size:
            return False
        return self.where.flat[0] == NOWHERE

    def packed(self) -> Array:
        """Return it as one array of a structured dtype."""
        parts = [("narrow", self.narrow), ("wide", self.wide), ("places", self.places)]
        packed = np.empty(self.narrow.shape, np.dtype([(n, x.dtype) for n, x in parts]))
        for name, x in parts:
            packed[name] = x
        return packed

    @classmethod
    def of(cls, packed: Array) -> Both:
        """Return what was packed."""
        narrow, wide, places = (np.ascontiguousarray(packed[n]) for n in _PARTS)
        shape = packed.shape
        return cls(narrow.reshape(shape), wide.reshape(shape), places.reshape(shape))


_PARTS = ("narrow", "wide", "places")
_MOST_SHORT = np.iinfo(np.int32).max
Operand = Both | Array


@dataclass(slots=True)
class Event:
    """An op that was evaluated on numbers: all but those that only move or decide."""

    step: Step
    turn: int | None
    """The iteration, if it was in a loop: of the innermost one."""
    operands: Sequence[Operand]
    results: Sequence[Operand]


@dataclass
class Run:
    """A shadow run of a function."""

    arithmetic: Doubles
    arguments: Sequence[Operand] = ()
    results: Sequence[Operand] = ()
    events: list[Event] = field(default_factory=list)
    decisions: list[tuple[Step, int]] = field(default_factory=list)
    """Comparisons, roundings and sorts that are otherwise in the wider run, and in how many
    elements."""
    size: int = 0
    """The number of places."""
    has_complex: bool = False
    """True if there are complex numbers."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Ops that have no wider form: their results count as exact."""


def run(
    module: Module, func: str, arguments: Sequence[Array], arithmetic: Doubles | None = None
) -> Run:
    """Run a function of a module for arrays, in its own precision and in a wider one: float64, or
    decimal numbers where the function has floats of 64 bits.
    """
    evaluator = evaluate.Evaluator(module)
    if arithmetic is None:
        arithmetic = arithmetic_beside(evaluator, func, arguments)
    shadow = _Shadow(Run(arithmetic))
    with arithmetic.context(), np.errstate(all="ignore"):
        given = [shadow.new(x) if inexact(x.dtype) else x for x in arguments]
        with evaluate.run_by(shadow):
            found = evaluator(func, given)  # pyright: ignore[reportArgumentType]
        shadow.run.arguments = given
        shadow.run.results = [_unpacked(x) for x in found]
    return shadow.run


def _row(x: Operand, number: int) -> Operand:
    """Return a row of an array."""
    if not isinstance(x, Both):
        return x[number]
    narrow, wide = np.asarray(x.narrow[number]), np.asarray(x.wide[number])
    if isinstance(x.where, int):
        return Both(narrow, wide, x.where + number * narrow.size)
    return Both(narrow, wide, np.asarray(x.where[number]))


def _stacked(rows: Sequence[Operand]) -> Operand:
    """Return the array of some rows."""
    both = [x for x in rows if isinstance(x, Both)]
    if not both:
        return np.stack(rows)  # pyright: ignore
    narrow, wide, places = (np.stack([getattr(x, n) for x in both]) for n in _PARTS)
    return Both(narrow, wide, places)


def _unpacked(x: Any) -> Operand:
    if isinstance(x, Both):
        return x
    x = np.asarray(x)
    return Both.of(x) if x.dtype.names else x


@dataclass
class _Around:
    """An op that is being evaluated, and runs blocks."""

    packs: bool
    """True if it takes rows of arrays, and stacks them: they are packed."""
    turns: Counter[int] = field(default_factory=Counter)
    """The number of runs of each block."""


Way = Callable[[Evaluation, list[Operand], "int | None"], Sequence[Operand]]
"""The way in which a step of a block is run: for its operands, in an iteration."""


class _Shadow:
    """Runs blocks for arrays that are packed, in place of the evaluator."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.around: list[_Around] = []
        self.ways: dict[int, list[Way]] = {}
        """The functions that run the steps of each block, which are found once."""

    def __call__(
        self, program: evaluate.Program, arguments: Sequence[Array], call: Evaluation
    ) -> list[Array]:
        turn, packs = None, False
        key = id(program)
        if self.around:
            turn = self.around[-1].turns[key]
            self.around[-1].turns[key] += 1
            packs = self.around[-1].packs
        ways = self.ways.get(key)
        if ways is None:
            ways = self.ways[key] = [self.way(step, program.types) for step in program.steps]
        env: list[Any] = [None] * len(program.types)
        for slot, argument in zip(program.inputs, arguments, strict=True):
            env[slot] = argument if isinstance(argument, Both) else _unpacked(argument)
        for step, way in zip(program.steps, ways, strict=True):
            results = way(call, [env[i] for i in step.inputs], turn)
            for slot, result in zip(step.outputs, results, strict=True):
                env[slot] = result
            for slot in step.dead:
                env[slot] = None
        outputs = [env[slot] for slot in program.outputs]
        return [x.packed() if packs and isinstance(x, Both) else x for x in outputs]

    def way(self, step: Step, types: Sequence[Type]) -> Way:
        """Return the way in which a step is run, which follows from its op and its types."""
        op = step.op
        given = [array_type(types[i]) for i in step.inputs]
        if isinstance(op, Scan):
            return lambda call, operands, turn: self.scanned(op, call, operands)
        if not op.is_pure and not isinstance(op, DefinedOp | Callback | ShardMap):
            return lambda call, operands, turn: self.inside(op, call, operands)
        if isinstance(op, _OF_MATRICES):
            dtypes = [dtype_of_type(types[i]) for i in step.outputs]
            return lambda call, operands, turn: self.factored(step, call, operands, turn, dtypes)
        if op.is_constant:
            found = self.of_integers(step, no_calls, [])
            return lambda call, operands, turn: found
        if op.elementwise and op.num_results == 1 and None not in given:
            plain = self.elementwise(step, [x for x in given if x is not None], types)
            if plain is not None:
                return plain

        def apart(call: Evaluation, operands: list[Operand], turn: int | None) -> Sequence[Operand]:
            with evaluate.run_by(None):  # an op may be defined by a program
                return self.evaluated(step, call, operands, turn)

        return apart

    def elementwise(
        self, step: Step, given: Sequence[ArrayType], types: Sequence[Type]
    ) -> Way | None:
        """Return the way of an elementwise op of floats alone that gives floats, or of others that
        gives none of them; None for any other.
        """
        op, run = step.op, self.run
        result = array_type(types[step.outputs[0]])
        floats = [inexact(x.dtype) for x in given]
        is_plain = not (moves(op) or is_of_bits(op) or isinstance(op, DefinedOp | Sort))
        if result is None or not given or not is_plain:
            return None
        narrow_of = op.prepared(*given)
        if not any(floats) and not inexact(result.dtype):
            return lambda call, operands, turn: [np.asarray(narrow_of(*operands))]
        are_step = is_step_function(op, tuple(x.dtype for x in given))
        if not (all(floats) and inexact(result.dtype)) or are_step:
            return None
        wide_of = self.wide_of(op, given)
        size, events, num = prod(result.shape), run.events, len(given)
        run.has_complex |= result.dtype.kind == "c"

        def of_one(call: Evaluation, operands: list[Any], turn: int | None) -> Sequence[Operand]:
            (x,) = operands
            start = run.size
            run.size = start + size
            narrow, wide = np.asarray(narrow_of(x.narrow)), np.asarray(wide_of(x.wide))
            results = [Both(narrow, wide, start)]
            events.append(Event(step, turn, operands, results))
            return results

        def of_two(call: Evaluation, operands: list[Any], turn: int | None) -> Sequence[Operand]:
            x, y = operands
            start = run.size
            run.size = start + size
            narrow = np.asarray(narrow_of(x.narrow, y.narrow))
            results = [Both(narrow, np.asarray(wide_of(x.wide, y.wide)), start)]
            events.append(Event(step, turn, operands, results))
            return results

        def of_all(call: Evaluation, operands: list[Any], turn: int | None) -> Sequence[Operand]:
            start = run.size
            run.size = start + size
            narrow = np.asarray(narrow_of(*(x.narrow for x in operands)))
            wide = np.asarray(wide_of(*(x.wide for x in operands)))
            results = [Both(narrow, wide, start)]
            events.append(Event(step, turn, operands, results))
            return results

        return (of_all, of_one, of_two)[num] if num < 3 else of_all

    def wide_of(self, op: Op, given: Sequence[ArrayType]) -> Callable[..., Any]:
        """Return an op as a function of wide operands."""
        run = self.run
        if type(run.arithmetic) is Doubles:
            return run.arithmetic.prepared(op, given)

        def found(*wides: Array) -> Array:
            (wide,) = run.arithmetic.evaluated(op, no_calls, wides)
            if op.name in run.arithmetic.lacking:
                run.unknown[op.name] += 1
            return wide

        return found

    def scanned(self, op: Scan, call: Evaluation, operands: Sequence[Operand]) -> list[Operand]:
        """Return the results of a loop over rows."""
        consts, carry, xs = op.parts(operands)
        if not op.length:
            return list(self.inside(op, call, operands))
        self.around.append(_Around(packs=False))
        order = range(op.length)
        rows: list[Sequence[Operand]] = []
        with evaluate.run_by(self):
            for step in reversed(order) if op.reverse else order:
                at = [_row(x, step) for x in xs]
                found: Any = call(op.body, [*consts, *carry, *at])  # pyright: ignore
                carry, ys = op.results(found)
                rows.append(ys)
        self.around.pop()
        if op.reverse:
            rows.reverse()
        return [*carry, *(_stacked(column) for column in zip(*rows, strict=True))]

    def new(self, narrow: Array, wide: Array | None = None) -> Both:
        """Return numbers with places of their own; those of an argument are exact."""
        start, self.run.size = self.run.size, self.run.size + narrow.size
        self.run.has_complex |= narrow.dtype.kind == "c"
        return Both(narrow, self.run.arithmetic.lifted(narrow) if wide is None else wide, start)

    def exact(self, narrow: Array) -> Operand:
        """Return numbers that have no derivative, as they are."""
        if not inexact(narrow.dtype):
            return narrow
        lifted = self.run.arithmetic.lifted
        if narrow.size and not any(narrow.strides):  # all are one number
            wide = np.broadcast_to(lifted(narrow[(slice(1),) * narrow.ndim]), narrow.shape)
        else:
            wide = lifted(narrow)
        return Both(narrow, wide, np.broadcast_to(NOWHERE, narrow.shape))

    def evaluated(
        self, step: Step, call: Evaluation, operands: Sequence[Operand], turn: int | None
    ) -> Sequence[Operand]:
        """Return the results of an op."""
        op = step.op
        if not any(isinstance(x, Both) for x in operands):
            return self.of_integers(step, call, operands)  # pyright: ignore
        if moves(op):
            return self.moved(op, call, operands)
        if isinstance(op, Sort):
            return self.sorted(step, call, operands)
        return self.computed(step, call, operands, turn)

    def inside(self, op: Op, call: Evaluation, operands: Sequence[Operand]) -> Sequence[Operand]:
        hands_on = isinstance(op, RegionOp | Call) or type(op).evaluate is RuledOp.evaluate
        packs = not hands_on
        self.around.append(_Around(packs))
        given: Any = [x.packed() if packs and isinstance(x, Both) else x for x in operands]
        with evaluate.run_by(self):
            results: Any = op.evaluate(call, *given)
        self.around.pop()
        return [_unpacked(x) for x in (results if op.num_results != 1 else [results])]

    def of_integers(
        self, step: Step, call: Evaluation, operands: Sequence[Array]
    ) -> Sequence[Operand]:
        return [self.exact(x) for x in evaluated(step.op, call, operands)]

    def moved(self, op: Op, call: Evaluation, operands: Sequence[Operand]) -> Sequence[Operand]:
        wides = [x.wide for x in operands if isinstance(x, Both)]
        pool = None
        if any(x.dtype.kind in "OV" for x in wides):  # not all ops move these, but all move numbers
            ends = np.cumsum([x.size for x in wides])
            pool = np.concatenate([x.ravel() for x in wides])
            wides = [
                np.arange(n - x.size, n).reshape(x.shape) for x, n in zip(wides, ends, strict=True)
            ]

        def move(parts: Iterator[Array]) -> Sequence[Array]:
            return evaluated(
                op, call, [next(parts) if isinstance(x, Both) else x for x in operands]
            )

        both = [x for x in operands if isinstance(x, Both)]
        narrow, places = move(x.narrow for x in both), move(x.places for x in both)
        wide = move(iter(wides))
        if pool is not None:
            wide = [np.asarray(pool[x]) for x in wide]
        return [Both(*parts) for parts in zip(narrow, wide, places, strict=True)]

    def sorted(
        self, step: Step, call: Evaluation, operands: Sequence[Operand]
    ) -> Sequence[Operand]:
        """The wide numbers and the places go with the narrow ones."""
        both = [x for x in operands if isinstance(x, Both)]
        keys = [x.narrow if isinstance(x, Both) else x for x in operands]
        number = np.arange(keys[0].size).reshape(keys[0].shape)
        op = step.op
        if len(keys) == 1 and isinstance(op, Sort) and keys[0].all():  # only zeros differ by sign
            op = replace(op, is_stable=False)
        *results, order = evaluated(op, call, [*keys, number])
        found: list[Operand] = []
        for result, x in zip(results, operands, strict=True):
            if isinstance(x, Both):
                where = order + x.where if isinstance(x.where, int) else x.where.ravel()[order]
                x = Both(result, x.wide.ravel()[order], where)
            found.append(x if isinstance(x, Both) else result)
        if both and isinstance(found[0], Both) and isinstance(step.op, Sort):
            wide = np.moveaxis(self.run.arithmetic.lowered(found[0].wide), step.op.dimension, 0)
            before, after = wide[:-1], wide[1:]
            is_down = step.op.order.direction == "GT"
            self.decide(step, after > before if is_down else after < before)
        return found

    def decide(self, step: Step, differs: Array) -> None:
        """Record decisions that are otherwise in the wider run."""
        count = int(np.count_nonzero(differs))
        if count:
            self.run.decisions.append((step, count))

    def computed(
        self,
        step: Step,
        call: Evaluation,
        operands: Sequence[Operand],
        turn: int | None,
        narrow: Sequence[Array] | None = None,
    ) -> Sequence[Operand]:
        """Return the results of an op, of which the narrow ones may be known."""
        op, arithmetic = step.op, self.run.arithmetic
        if narrow is None:
            narrow = evaluated(op, call, [x.narrow if isinstance(x, Both) else x for x in operands])
        if isinstance(op, Callback | ShardMap) or is_of_bits(op):
            if any(inexact(x.dtype) for x in narrow):
                self.run.unknown[_ELSEWHERE.get(type(op), op.name)] += 1
            return [self.exact(x) for x in narrow]
        wides = [x.wide if isinstance(x, Both) else x for x in operands]
        wide = arithmetic.evaluated(op, call, wides)
        steps = is_step_function(
            op, tuple((x.narrow if isinstance(x, Both) else x).dtype for x in operands)
        )
        if op.name in arithmetic.lacking and not (steps or isinstance(op, _OF_MATRICES)):
            self.run.unknown[op.name] += 1
        results: list[Operand] = []
        for own, wider in zip(narrow, wide, strict=True):
            if not inexact(own.dtype):
                self.decide(step, own != wider)
                results.append(own)
            elif steps:
                exact = self.exact(own)
                assert isinstance(exact, Both)
                self.decide(step, arithmetic.lowered(wider) != arithmetic.lowered(exact.wide))
                results.append(exact)
            else:
                results.append(self.new(own, wider))
        if not steps and any(isinstance(x, Both) for x in results):
            self.run.events.append(Event(step, turn, operands, results))
        return results

    def factored(
        self,
        step: Step,
        call: Evaluation,
        operands: Sequence[Operand],
        turn: int | None,
        dtypes: Sequence[np.dtype[Any]],
    ) -> Sequence[Operand]:
        """Return the results of an op on matrices, of some dtypes. NumPy factors narrow floats in
        float64, and programs do not. The algorithms are backward stable: what they compute is what
        the wider op gives for operands of which each element is off by at most one rounding.
        """
        op = step.op
        random = np.random.default_rng(len(self.run.events))

        def off(x: Array) -> Array:
            if not inexact(x.dtype):
                return x
            wide, eps = x.astype(wide_dtype(x.dtype)), float(ml_dtypes.finfo(x.dtype).eps)
            shares = random.random(x.shape, np.float32) - np.float32(0.5)
            return wide + wide * (shares * (2 * eps if x.dtype == wide.dtype else eps))

        with evaluate.run_by(None):
            given = [off(x.narrow if isinstance(x, Both) else x) for x in operands]
            wide = evaluated(widened(op), call, given)
            narrow = [x.astype(dtype) for x, dtype in zip(wide, dtypes, strict=True)]
            return self.computed(step, call, operands, turn, narrow)


_ELSEWHERE = {Callback: "callback", ShardMap: "shard_map"}
_OF_MATRICES = (Factorization, Solve, Cholesky, TriangularSolve)
