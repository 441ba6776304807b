"""The reference evaluator, which runs modules in NumPy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.ops.core import UnboundAxis, UnknownSize, evaluated
from irax_compiler.ops.evaluation import straight
from irax_compiler.ops.evaluation.steps import Step, Steps, inputs
from irax_compiler.ops.registry import read
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.sizes import InconclusiveDimensionOperation

Arrays = Sequence[np.ndarray]
_MANY = 3
"""The number of runs of a block after which more are expected."""

Watch = Callable[[Step, Arrays, Arrays], "Arrays | None"]
"""Called for each operation that is evaluated, with its step, operands and results; it may return
other results."""


Runner = Callable[["Program", Arrays, Evaluation], list[np.ndarray]]
"""Runs a block for arguments, in place of the evaluator."""


class _State(threading.local):
    watch: Watch | None = None
    runner: Runner | None = None

    def __init__(self) -> None:
        self.loops: list[int] = []


_state = _State()


@contextmanager
def watching(seeing: Watch | None) -> Iterator[None]:
    """For the length of a `with` block, `seeing` sees what is evaluated in this thread."""
    outer, _state.watch = _state.watch, seeing
    try:
        yield
    finally:
        _state.watch = outer


def watch() -> Watch | None:
    """Return what sees the evaluation of this thread."""
    return _state.watch


def loops() -> list[int]:
    """Return the loops that this thread evaluates, the outermost first: the steps done of each."""
    return _state.loops


@contextmanager
def run_by(runner: Runner | None) -> Iterator[None]:
    """For the length of a `with` block, `runner` runs the blocks of programs in this thread."""
    outer, _state.runner = _state.runner, runner
    try:
        yield
    finally:
        _state.runner = outer


def is_observed() -> bool:
    """True if each operation that this thread evaluates is to be seen: none is compiled."""
    return _state.watch is not None or _state.runner is not None


class Evaluator:
    """Evaluates functions of one module. Functions are read once and may be run many times."""

    def __init__(self, module: Module) -> None:
        self.module = module  # its operations live as long as it does
        self._programs: dict[str, Program] = {}

    @property
    def functions(self) -> Mapping[str, Operation]:
        """The functions of the module by name; more may come while it is being built."""
        return mlir.Functions(self.module)

    def __call__(self, name: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the results of function `name`. Arguments and results may share memory, so neither
        may be modified in place.
        """
        program = self.program(name)
        with np.errstate(all="ignore"):
            return program.run(arguments, self)

    def program(self, name: str) -> Program:
        """Return a function as what is run, which is read once."""
        program = self._programs.get(name)
        if program is None:
            program = self._programs[name] = Program.of(mlir.body(self.functions[name]))
        return program


@dataclass
class Program(Steps):
    """A block that is run, perhaps often."""

    runs: int = 0
    line: Callable[..., list[np.ndarray]] | None = None
    """The block as one Python function, from `_MANY` runs on."""

    def run(self, arguments: Sequence[np.ndarray], call: Evaluation) -> list[np.ndarray]:
        if _state.runner is not None:
            return _state.runner(self, arguments, call)
        if self.line is not None and _state.watch is None:
            return self.line(call, *arguments)
        self.runs += 1
        if self.runs >= _MANY:
            self.line = straight.line(self)
        return self._run_by_steps(arguments, call)

    def _run_by_steps(self, arguments: Sequence[np.ndarray], call: Evaluation) -> list[np.ndarray]:
        env: list[Any] = [None] * len(self.types)
        for slot, argument in zip(self.inputs, arguments, strict=True):
            env[slot] = argument
        seeing = _state.watch
        for step in self.steps:
            operands = [env[i] for i in step.inputs]
            results = evaluated(step.op, call, operands)
            if seeing is not None:
                results = seeing(step, operands, results) or results
            for slot, result in zip(step.outputs, results, strict=True):
                env[slot] = result
            for slot in step.dead:
                env[slot] = None
        return [env[slot] for slot in self.outputs]


def evaluate_value(
    value: Value,
    known: dict[Value, np.ndarray],
    argument: Callable[[Value], np.ndarray | None],
    call: Evaluation,
) -> np.ndarray | None:
    """Return the value of an operation's result in an unfinished function, if it follows from what
    `argument` knows of the function's arguments; None if not.

    What is found on the way is kept in `known`, which the next call starts from.
    """
    pending = [value]
    while pending:
        current = pending[-1]
        if current in known:
            pending.pop()
            continue
        operation = mlir.definition(current)
        if operation is None:
            found = argument(current)
            if found is None:
                return None
            known[current] = found
            continue
        op = read(operation)
        needed = inputs(op, operation)
        missing = [v for v in needed if v not in known]
        if missing:
            pending.extend(missing)
            continue
        if effects.has_effects(operation):  # whose time is when the function runs
            return None
        try:
            with np.errstate(all="ignore"):
                results = evaluated(op, call, [known[v] for v in needed])
        except (
            UnboundAxis,
            UnknownSize,
            InconclusiveDimensionOperation,
        ):  # it differs by lane, call
            return None
        known.update(zip(operation.results, results, strict=True))
    return known[value]
