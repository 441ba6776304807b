"""Translation of a block that runs often to one straight-line Python function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.ops.core import ArrayType, no_calls
from irax_compiler.ops.evaluation.steps import Step, Steps
from irax_compiler.ops.long_runs import apart, may_take_long
from irax_compiler.quiet import quietly

_LARGE = 1 << 16
"""The bytes above which a result is computed in each run instead of kept."""


def line(program: Steps) -> Callable[..., list[np.ndarray]]:
    """A function of what calls functions by name, and of the arguments, that gives the results."""
    return _Line(program).function()


def calls_nothing(program: Steps) -> bool:
    """True if a block calls no function, neither of its module nor of the user's."""
    return all(step.op.is_pure for step in program.steps)


class _Line:
    def __init__(self, program: Steps) -> None:
        self.program = program
        self.names: dict[str, Any] = {"asarray": np.asarray}
        """The global names of the text: functions, and arrays known beforehand."""
        self.lines: list[str] = []
        self.types = [_array_type(t) for t in program.types]
        self.known: dict[int, np.ndarray] = {}
        self.instead: dict[int, int] = {}
        """For slots of what need not be stretched, those of what would be."""
        self.arrays: set[int] = set()
        """Slots of what somebody but NumPy's own functions sees."""

    def function(self) -> Callable[..., list[np.ndarray]]:
        steps = [(step, self._prepared(step)) for step in self.program.steps]
        unstretched = self._unstretched(steps)
        left: list[tuple[Step, Callable[..., Any]]] = []
        first: dict[Any, Step] = {}
        for step, run in steps:
            if step.outputs and step.outputs[0] in unstretched:
                self.instead[step.outputs[0]] = self._slot(step.inputs[0])
            elif not self._is_known(step, run):
                same = first.setdefault((step.op, *map(self._slot, step.inputs)), step)
                if same is step or not step.op.is_pure:
                    left.append((step, run))
                else:
                    self.instead.update(zip(step.outputs, same.outputs, strict=True))
        outputs = {self._slot(i) for i in self.program.outputs}
        self.arrays = outputs.union(
            *(map(self._slot, step.inputs) for step, run in left if not isinstance(run, np.ufunc))
        )
        last_use = {self._slot(i): n for n, (step, _) in enumerate(left) for i in step.inputs}
        for n, (step, run) in enumerate(left):
            self._write(step, run)
            dead = [
                f"t{i}"
                for i in {*step.outputs, *map(self._slot, step.inputs)} - self.known.keys()
                if last_use.get(i, n) == n and i not in outputs
            ]
            if dead:
                self.lines.append(f"del {', '.join(dead)}")
        arguments = ", ".join(["call", *(f"t{i}" for i in self.program.inputs)])
        results = ", ".join(self._name(i) for i in self.program.outputs)
        text = "\n    ".join([f"def line({arguments}):", *self.lines, f"return [{results}]"])
        exec(compile(text, "<straight line>", "exec"), self.names)
        return self.names["line"]

    def _prepared(self, step: Step) -> Callable[..., Any]:
        if not step.op.is_pure:
            return step.op.evaluate
        types = [self.types[i] for i in step.inputs]
        if None in types:
            return partial(step.op.evaluate, no_calls)
        known = [t for t in types if t is not None]
        prepared = step.op.prepared(*known)
        is_long = step.op.superlinear and may_take_long(step.op, known)
        return apart(prepared) if is_long else prepared

    def _unstretched(self, steps: list[tuple[Step, Callable[..., Any]]]) -> set[int]:
        """Slots of scalars made arrays, which all users would do by themselves."""
        found = {
            step.outputs[0]
            for step, _ in steps
            if step.op.stretches and not self._shape(step.inputs[0])
        }
        found -= set(self.program.outputs)
        for step, run in steps:
            by_itself = step.op.elementwise and (isinstance(run, np.ufunc) or run is np.where)
            if not (by_itself and any(i not in found and self._shape(i) for i in step.inputs)):
                found.difference_update(step.inputs)
        return found

    def _is_known(self, step: Step, run: Callable[..., Any]) -> bool:
        """Compute a step that depends on constants alone, unless its results are large; return True
        if it was.
        """
        if not step.op.is_pure or not all(self._slot(i) in self.known for i in step.inputs):
            return False
        results = quietly(run, *(self.known[self._slot(i)] for i in step.inputs))
        results = (np.asarray(results),) if step.op.num_results == 1 else results
        if not step.op.is_constant and sum(x.nbytes for x in results) > _LARGE:
            return False
        self.known.update(zip(step.outputs, results, strict=True))
        return True

    def _shape(self, slot: int) -> tuple[int, ...]:
        type_ = self.types[slot]
        return () if type_ is None else type_.shape

    def _slot(self, slot: int) -> int:
        return self.instead.get(slot, slot)

    def _name(self, slot: int) -> str:
        slot = self._slot(slot)
        if slot not in self.known:
            return f"t{slot}"
        self.names[f"c{slot}"] = self.known[slot]
        return f"c{slot}"

    def _write(self, step: Step, run: Callable[..., Any]) -> None:
        function = f"f{len(self.lines)}"
        self.names[function] = run
        operands = ", ".join(map(self._name, step.inputs))
        targets = ", ".join(f"t{i}" for i in step.outputs)
        if not step.op.is_pure:
            operands = f"call, {operands}"
        if step.op.num_results != 1:
            self.lines.append(f"[{targets}] = {function}({operands})")
        elif self._shape(step.outputs[0]) or step.outputs[0] not in self.arrays:
            self.lines.append(f"{targets} = {function}({operands})")
        else:  # NumPy makes numbers of arrays without dimensions
            self.lines.append(f"{targets} = asarray({function}({operands}))")


def _array_type(type_: Any) -> ArrayType | None:
    """None for what is no array of numbers."""
    try:
        return ArrayType(tuple(type_.shape), mlir.dtype_of_type(type_))
    except (AttributeError, TypeError):
        return None
