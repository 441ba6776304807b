"""jit with symbolic sizes: a function is traced once, and runs for all sizes.

Where the target compiles it for sizes that are not known, there is one program, and programs of
their own for a few sizes that are called often (see `specialized`). Otherwise the traced function
is refined, and compiled, for each signature.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irax.config import config
from irax.core.array import ConcreteArray, aval_of
from irax.core.avals import ShapeDtypeStruct
from irax.core.module_builder import ModuleBuilder
from irax.core.tracing import Traced
from irax.core.trees import array_trees
from irax.core.trees.prefixes import prefix_broadcast
from irax.execution import backend
from irax.execution.bound_call import results_as
from irax.execution.program import DeviceProgram, Program
from irax.execution.specialized import LEAST, Specializations, Specialized
from irax.execution.symbolic_shapes import symbolic_shape
from irax_compiler import api, mlir
from irax_compiler.sizes import (
    InconclusiveDimensionOperation,
    SymbolicScope,
    is_symbolic,
    substituted,
)
from irax_runtime.device import Device, Executable

ENOUGH = 2
"""The number of signatures that differ in sizes alone after which "auto" expects more."""


@dataclass
class SizedProgram:
    """A function that was traced for symbolic sizes, and its programs for all of them."""

    program: Program
    executables: dict[Device, Executable | None] = field(default_factory=dict)
    why: str = ""
    """The reason why there is no program for all sizes."""
    own: Specializations = field(default_factory=Specializations)
    """The programs for sizes that are called often."""

    def executable(self, device: Device) -> Executable | None:
        """The program for all sizes; None if the device's target does not compile it."""
        if device not in self.executables:
            traced, start = self.program.traced, time.perf_counter()
            module = traced.builder.module
            found, self.why = backend.compile_for_all_sizes(module, traced.name, device)
            self.own.worth = max(LEAST, time.perf_counter() - start)
            self.executables[device] = found
        return self.executables[device]

    def refined(self, leaves: Sequence[Any], names: Sequence[str]) -> Program:
        """The program for the sizes of some arguments.

        Raises:
            ValueError: there are no values of the variables for which arguments have these sizes.
        """
        traced = self.program.traced
        function = mlir.functions(traced.builder.module)[traced.name]
        shapes = [np.shape(x) for x in (*leaves, *traced.captures)]
        named = [*names, *(f"a captured array ({i})" for i in range(len(traced.captures)))]
        try:
            values = api.values_for(function, shapes, named)
        except ValueError as error:
            raise ValueError(f"{traced.name}: {error}") from None
        builder = ModuleBuilder(api.refined(traced.builder.module, traced.name, values))
        builder.kept = traced.builder.kept
        results = [
            aval.of_shape(tuple(substituted(n, values) for n in aval.shape))
            for aval in traced.results
        ]
        known = Traced(builder, traced.name, traced.captures, results)
        own = self.program
        largest = max(values.values(), default=0)
        options = own.out_tree, own.donated, own.when, own.commits, own.moves
        return RefinedProgram(known, *options, spans=own.spans, of=self, largest=largest)


@dataclass
class RefinedProgram(Program):
    """A function for one signature, which may run the program for all sizes."""

    of: SizedProgram | None = None
    largest: int = 0
    """The largest value of a variable."""

    def numbers_apart(self, device: Device) -> tuple[mlir.Module, list[Any]]:
        """Return the function itself, and no numbers: programs for sizes of their own take what
        those for all sizes do.
        """
        return self.traced.builder.module, []

    def _program(self, device: Device) -> DeviceProgram:
        assert self.of is not None
        executable = self.of.executable(device)
        if executable is None:
            return super()._program(device)
        from irax_runtime.iree.executable import IreeExecutable
        from irax_runtime.iree.sized import SizedExecutable

        assert isinstance(executable, IreeExecutable)  # other targets have no such programs
        if 0 < executable.largest_size < self.largest:
            return super()._program(device)
        notes = api.notes(self.traced.builder.module, self.traced.name, device.target)
        donated = {"irax.donated": ",".join(map(str, self.donated))} if self.donated else {}
        captures = [x for x in self.traced.captures if isinstance(x, ConcreteArray)]
        captured = [x.on(device).buffer(device) for x in captures]
        specialized = Specialized(
            SizedExecutable(executable, notes | donated),
            lambda: super(RefinedProgram, self)._program(device).executable,
            self.of.own,
            ", ".join(map(str, self.argument_avals())),
        )
        return DeviceProgram(specialized, captured, results_as(self.out_tree, self.traced.results))


Trace = Callable[[Sequence[Any]], Program]
"""Traces a function for the leaves of arguments, some of which stand for arrays."""


class DynamicShapes:
    """The sizes of a jitted function's arguments that are symbolic, as the option says."""

    def __init__(self, fun: Callable[..., Any], option: Any) -> None:
        self.option = option
        self._programs: dict[Any, SizedProgram | None] = {}
        self._seen: dict[Any, list[tuple[tuple[int, ...], ...]]] = {}
        self._scope = SymbolicScope()
        try:
            self._signature = inspect.signature(fun)
        except (TypeError, ValueError):
            self._signature = inspect.Signature()
        if option == "auto":
            return
        if not isinstance(option, dict) or not all(isinstance(name, str) for name in option):
            raise TypeError(
                'jit: dynamic_shapes must be "auto", or a dict of shapes by names of parameters, '
                f"such as {{'x': 'batch, ...'}}, got {option!r}"
            )
        parameters = self._signature.parameters
        if unknown := [name for name in option if name not in parameters]:
            raise ValueError(
                f"jit: dynamic_shapes names {', '.join(map(repr, unknown))}: the function has the "
                f"parameters {', '.join(parameters)}"
            )

    def program(
        self, trace: Trace, leaves: Sequence[Any], tree: Any, rest: Any, names: Sequence[str]
    ) -> Program | None:
        """The program for a signature; None where "auto" leaves sizes as they are.

        Raises:
            ValueError: a shape is not as the option says.
            InconclusiveDimensionOperation: the function asks what depends on a size.
        """
        if self.option != "auto":
            shapes = self._stated(leaves, tree, rest)
            return self._sized(trace, leaves, shapes, rest).refined(leaves, names)
        for (known, *_), program in self._programs.items():
            if known == rest and program is not None:
                with suppress(ValueError):  # other sizes are equal there
                    return program.refined(leaves, names)
        shapes = self._found(leaves, rest)
        if shapes is None:
            return None
        try:
            program = self._sized(trace, leaves, shapes, rest)
            with suppress(ValueError):  # a size is 0, which a variable is not
                return program.refined(leaves, names)
        except Exception:  # whatever the function raises: its form depends on the sizes
            self._programs[rest, *shapes] = None
        return None

    def _sized(
        self, trace: Trace, leaves: Sequence[Any], shapes: Sequence[tuple[Any, ...]], rest: Any
    ) -> SizedProgram:
        key = (rest, *shapes)
        if key not in self._programs:
            given = [
                _stand_in(x, shape) if any(map(is_symbolic, shape)) else x
                for x, shape in zip(leaves, shapes, strict=True)
            ]
            self._programs[key] = SizedProgram(trace(given))
        found = self._programs[key]
        if found is None:
            raise InconclusiveDimensionOperation("the form of the function depends on its sizes")
        return found

    # -- which sizes are symbolic --

    def _stated(self, leaves: Sequence[Any], tree: Any, rest: Any) -> list[tuple[Any, ...]]:
        """The shapes of the leaves, as the option says."""
        args, kwargs = array_trees.tree_unflatten(tree, range(len(leaves)))
        given = self._by_name(args, kwargs, rest)
        shapes = [np.shape(x) for x in leaves]
        for name, stated in self.option.items():
            if name not in given:
                continue
            numbers = array_trees.tree_leaves(given[name])
            specs = prefix_broadcast(
                stated,
                given[name],
                is_leaf=lambda x: isinstance(x, tuple),
                prefix_name=f"jit: dynamic_shapes[{name!r}]",
                tree_name=name,
            )
            for number, spec in zip(numbers, specs, strict=True):
                text = (
                    ", ".join("_" if n is None else str(n) for n in spec)
                    if isinstance(spec, tuple)
                    else spec
                )
                try:
                    shape = symbolic_shape(text, scope=self._scope, like=shapes[number])
                except ValueError as error:
                    raise ValueError(f"jit: dynamic_shapes[{name!r}]: {error}") from None
                shapes[number] = shape
        return shapes

    def _by_name(self, args: Any, kwargs: Any, rest: Any) -> dict[str, Any]:
        """The arguments by names of parameters; those that are static are None."""
        (_, static, *_), full = rest, list(args)
        for item in static:
            if isinstance(item.where, int):
                full.insert(item.where, None)
            else:
                kwargs = {**kwargs, item.where: None}
        return dict(self._signature.bind_partial(*full, **kwargs).arguments)

    def _found(self, leaves: Sequence[Any], rest: Any) -> list[tuple[Any, ...]] | None:
        """The shapes of the leaves with variables for the sizes that differed so far: those that
        were equal in each signature are one. None while there are few signatures.
        """
        shapes = tuple(np.shape(x) for x in leaves)
        ranks = tuple(map(len, shapes))
        seen = self._seen.setdefault((rest, ranks), [])
        if shapes not in seen:
            seen.append(shapes)
        if len(seen) < ENOUGH:
            return None
        names: dict[tuple[int, ...], str] = {}
        found = []
        for i, shape in enumerate(shapes):
            rows = [tuple(s[i][d] for s in seen) for d in range(len(shape))]
            sizes = []
            for row in rows:
                if len(set(row)) == 1:
                    sizes.append(row[0])
                else:
                    sizes.append(self._scope.variable(names.setdefault(row, f"d{len(names)}")))
            found.append(tuple(sizes))
        if self._programs.get((rest, *found), self) is None:
            return None
        return found

    def explanation(self) -> list[str]:
        """Sentences that say which programs there are."""
        told = []
        for program in filter(None, self._programs.values()):
            avals = ", ".join(map(str, program.program.argument_avals()))
            compiled = [d for d, e in program.executables.items() if e is not None]
            if compiled:
                told.append(f"one program for all sizes of ({avals})")
                told += [f"one for ({sizes}) alone" for sizes in program.own.sizes]
            elif program.executables:
                told.append(f"({avals}) is compiled for each size: {program.why}")
        return told


def _stand_in(x: Any, shape: tuple[Any, ...]) -> ShapeDtypeStruct:
    aval = aval_of(x)
    return ShapeDtypeStruct(shape, aval.dtype, weak_type=aval.weak_type)


def rest_of(leaves: Sequence[Any], tree: Any, static: Any) -> Any:
    """All that a trace depends on, sizes aside."""
    kinds = tuple((aval.dtype, aval.weak_type) for aval in map(aval_of, leaves))
    return tree, static, config.traced, kinds
