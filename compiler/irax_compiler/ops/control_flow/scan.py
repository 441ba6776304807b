"""Scans: loops with a fixed trip count over the rows of arrays, which stack the rows they compute.

    irax.scan(consts..., carry..., xs...) -> (carry..., ys...)

A step is a function of the module, `body`. It takes the constants, the loop-carried values and a
row of each of xs, and returns the new loop-carried values and a row of each of ys. In the IR a scan
is a composite, whose decomposition is a `stablehlo.while`. Derivatives and transposes of scans are
scans: residuals are stacked once, as further ys of the forward scan and further xs of the linear
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Type, Value
from irax_compiler.ops import comparison, conversion, dry_run, elementwise, shape
from irax_compiler.ops.attributes import FLAG, I64, SYMBOL, attribute
from irax_compiler.ops.composite import ComposedOp, register_composed
from irax_compiler.ops.control_flow import long_loops, rowwise
from irax_compiler.ops.control_flow.rows import read_row, row_type, stacked_type, write_row
from irax_compiler.ops.core import Axis, Linear, Tangent, full, working_dtype
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.structured import (
    StructuredOp,
    batched_where,
    call_function,
    fixed_point,
    instantiated,
    scatter,
    whole,
    zeros_of,
)
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Linearization,
    Transformation,
    Transposition,
)

I32 = np.dtype(np.int32)


@register_composed
@dataclass(frozen=True)
class Scan(StructuredOp, ComposedOp):
    """A loop of `length` steps."""

    name = "irax.scan"
    num_results: ClassVar[int] = -1
    body: str = attribute(SYMBOL)
    length: int = attribute(I64)
    reverse: bool = attribute(FLAG)
    """True to go from the last row to the first."""
    num_consts: int = attribute(I64)
    num_carry: int = attribute(I64)

    # -- operands and results in their parts --

    def parts(self, operands: Sequence[Any]) -> tuple[list, list, list]:
        """Split operands into constants, loop-carried values and arrays of rows."""
        first, second = self.num_consts, self.num_consts + self.num_carry
        return list(operands[:first]), list(operands[first:second]), list(operands[second:])

    def results(self, results: Sequence[Any]) -> tuple[list, list]:
        """Split results into loop-carried values and stacked rows."""
        return list(results[: self.num_carry]), list(results[self.num_carry :])

    def decomposition_name(self, types: tuple[Type, ...]) -> str:
        return f"{self.body}.{'back' if self.reverse else 'times'}_{self.length}"

    def _is_made_of(self, function: Operation) -> bool:
        if self.length:
            return super()._is_made_of(function)
        # Without steps the body is not called: it counts for the types of its rows.
        _, rows = self.results(mlir.result_types(mlir.function_beside(function, self.body)))
        _, found = self.results(mlir.result_types(function))
        return found == [stacked_type(row, 0) for row in rows]

    # -- meaning --

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        consts, carry, xs = self.parts(operands)
        functions = mlir.Functions(mlir.open_module())
        body = mlir.terminator(mlir.body(functions[self.body])).operands
        ys = [zeros_of(stacked_type(row.type, self.length)) for row in self.results(body)[1]]
        if self.length == 0:
            return [*carry, *ys]
        zero, one, last = (full((), n, I32) for n in (0, 1, self.length - 1))
        limit = full((), self.length, I32)

        def advance(step: Value, *state: Value) -> Sequence[Value]:
            place = elementwise.subtract(last, step) if self.reverse else step
            rows = [read_row(x, place) for x in xs]
            found = call_function(functions, self.body, [*consts, *state[: self.num_carry], *rows])
            carried, new = self.results(found)
            stacked = [
                write_row(y, row, place)
                for y, row in zip(state[self.num_carry :], new, strict=True)
            ]
            return [elementwise.add(step, one), *carried, *stacked]

        _, *results = while_loop(
            lambda step, *_: comparison.less(step, limit), advance, [zero, *carry, *ys]
        )
        return results

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        consts, carry, xs = self.parts([np.asarray(x) for x in operands])
        order = range(self.length)
        if not order:
            rows = [np.zeros(x.shape[1:], x.dtype) for x in xs]
            with dry_run.types_only():
                _, found = self.results(call(self.body, [*consts, *carry, *rows]))
            return [*carry, *(np.empty((0, *row.shape), row.dtype) for row in found)]
        stacks: list[np.ndarray] = []
        work = long_loops.Work(long_loops.operations(call, self.body))
        with work:
            for done, step in enumerate(reversed(order) if self.reverse else order, start=1):
                found = call(self.body, [*consts, *carry, *(x[step] for x in xs)])
                carry, rows = self.results(found)
                if not stacks:
                    stacks = [np.empty((self.length, *row.shape), row.dtype) for row in rows]
                for stack, row in zip(stacks, rows, strict=True):
                    stack[step] = row
                if work.is_much() and done <= self.length // 2:
                    left = slice(0, step) if self.reverse else slice(done, None)
                    others = replace(self, length=self.length - done)
                    given = [*consts, *carry, *(x[left] for x in xs)]
                    found = long_loops.rest(others, call, given)
                    if found is not None:
                        carry, rows = self.results(found)
                        for stack, row in zip(stacks, rows, strict=True):
                            stack[left] = row
                        break
        return [*carry, *stacks]

    # -- derivatives --

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        t_consts, t_carry, t_xs = self.parts(tangents)
        consts, carry, xs = self.parts(primals)

        def step(flags: tuple[bool, ...]):
            pattern = (*_there(t_consts), *flags, *_there(t_xs))
            derived = transform.function(self.body, pattern)
            return derived, derived.results[: self.num_carry]

        derived, flags = fixed_point(step, _there(t_carry))
        moving = instantiated(carry, t_carry, flags)
        ys_flags = derived.results[self.num_carry :]
        c, k, dk = len(consts), len(carry), len(moving)
        dc = sum(_there(t_consts))

        def body(*arguments: Value) -> Sequence[Value]:
            cs, dcs, state, moved, rows = _split(arguments, c, dc, k, dk)
            d_rows = rows[len(xs) :]
            found = call_function(
                transform.functions,
                derived.name,
                [*cs, *state, *rows[: len(xs)], *dcs, *moved, *d_rows],
            )
            count = len(derived.results)
            d_found = scatter(found[count:], derived.results)
            results, new_rows = self.results(found[:count])
            d_results, d_new = self.results(d_found)
            moved = instantiated(results, d_results, flags)
            return [*results, *moved, *new_rows, *(t for t in d_new if t is not None)]

        operands = [[*consts, *_active(t_consts)], [*carry, *moving], [*xs, *_active(t_xs)]]
        found = self._built(transform, f"{self.body}.jvp.step", body, operands, self.reverse)
        results, d_results = found[:k], found[k : k + dk]
        num_ys = len(ys_flags)
        ys, d_ys = found[k + dk : k + dk + num_ys], found[k + dk + num_ys :]
        return [*results, *ys], [*scatter(d_results, flags), *scatter(d_ys, ys_flags)]

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        call = rowwise.by_rows(self, primals, transform)
        if call is not None:
            return call.linearize(transform, primals, tangents)
        t_consts, t_carry, t_xs = self.parts(tangents)
        consts, carry, xs = self.parts(primals)

        def step(flags: tuple[bool, ...]):
            pattern = (*_there(t_consts), *flags, *_there(t_xs))
            derived = transform.function(self.body, pattern)
            return derived, derived.results[: self.num_carry]

        derived, flags = fixed_point(step, _there(t_carry))
        count, num_ys = len(derived.results), len(derived.results) - self.num_carry
        # A residual that is a constant of the loop, or a row of xs, is there already.
        residuals = derived.residuals
        first_row = self.num_consts + self.num_carry
        shared = {
            i: consts[r]
            for i, r in enumerate(residuals)
            if isinstance(r, int) and r < self.num_consts
        }
        shared |= self._same_in_all_steps(transform, derived.name, count, consts)
        by_row = [i for i in range(len(residuals)) if i not in shared]
        saved = [i for i in by_row if not (isinstance(r := residuals[i], int) and r >= first_row)]

        def forward(*arguments: Value) -> Sequence[Value]:
            found = call_function(transform.functions, derived.name, arguments)
            return [*found[:count], *(found[count + i] for i in saved)]

        operands = [consts, carry, xs]
        found = self._built(transform, f"{self.body}.fwd.step", forward, operands, self.reverse)
        results, stacks = found[: self.num_carry + num_ys], found[self.num_carry + num_ys :]
        if not any(derived.results):
            return results, [None] * count
        stacked = dict(zip(saved, stacks, strict=True))

        # What the linear part reads: constants, then rows.
        rows_of = [
            stacked[i] if i in stacked else xs[residuals[i] - first_row]  # pyright: ignore
            for i in by_row
        ]
        moving = instantiated(carry, t_carry, flags)
        ys_flags = derived.results[self.num_carry :]
        linear_name = derived.linear
        carry_types = [x.type for x in carry]

        def linear(*arguments: Value) -> Sequence[Value]:
            sizes = len(shared), sum(_there(t_consts)), len(moving)
            cs, dcs, moved, rows = _split(arguments, *sizes)
            values = dict(zip([*shared, *by_row], [*cs, *rows[: len(by_row)]], strict=True))
            d_found = call_function(
                transform.functions,
                linear_name,
                [
                    *(values[i] for i in range(len(residuals))),
                    *dcs,
                    *moved,
                    *rows[len(by_row) :],
                ],
            )
            d_results, d_new = self.results(scatter(d_found, derived.results))
            like = [Linear(t) for t in carry_types]
            return [
                *instantiated(like, d_results, flags),
                *(t for t in d_new if t is not None),
            ]

        operands = [
            [*shared.values(), *_active(t_consts)],
            moving,
            [*rows_of, *_active(t_xs)],
        ]
        found = self._built(transform, f"{self.body}.lin.step", linear, operands, self.reverse)
        d_results, d_ys = found[: len(moving)], found[len(moving) :]
        return results, [*scatter(d_results, flags), *scatter(d_ys, ys_flags)]

    def _same_in_all_steps(
        self, transform: Transformation, forward: str, num_results: int, consts: Sequence[Value]
    ) -> dict[int, Value]:
        """Return the numbers of the residuals that depend on constants alone. They are computed
        once before the loop instead of being stacked.
        """
        with whole(transform.functions, forward) as function:
            constants = mlir.arguments(function)[: self.num_consts]
            varying: set[Value] = set(mlir.arguments(function)[self.num_consts :])
            *operations, last = (view.operation for view in mlir.body(function).operations)
            same = []
            for operation in operations:
                inputs = [*operation.operands, *mlir.captured(operation)]
                if any(v in varying for v in inputs) or effects.has_effects(operation):
                    varying.update(operation.results)
                else:
                    same.append(operation)
            wanted = {
                i: x
                for i, x in enumerate(list(last.operands)[num_results:])
                if x not in varying and not mlir.is_argument(x)
            }
            if not wanted:
                return {}

            def build(*given: Value) -> Sequence[Value]:
                env: dict[Value, Value] = dict(zip(constants, given, strict=True))
                mlir.clone_all(same, env)
                return [env[x] for x in wanted.values()]

            types = [x.type for x in constants]
            once = transform.build_function(f"{self.body}.once", types, build)
        effects.remove_dead_operations(mlir.body(transform.functions[once]))
        return dict(zip(wanted, call_function(transform.functions, once, consts), strict=True))

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> Sequence[bool]:
        consts, carry, xs = self.parts(flags)

        def step(flags: tuple[bool, ...]):
            found = dependence.results(self.body, (*consts, *flags, *xs))
            return found, found[: self.num_carry]

        found, carried = fixed_point(step, tuple(carry))
        return (*carried, *found[self.num_carry :])

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        consts, carry, xs = self.parts(operands)
        ct_carry, ct_ys = self.results(cotangents)
        # One that starts as zero depends on linear operands after a step.
        flags = [isinstance(x, Linear) for x in (*consts, *xs)]
        linear = (*flags[: len(consts)], *(True,) * len(carry), *flags[len(consts) :])

        def step(flags: tuple[bool, ...]):
            derived = transform.function(self.body, (linear, (*flags, *_there(ct_ys))))
            _, found, _ = self.parts(derived.results)
            return derived, tuple(found)

        # What only decides how long the loop runs has no cotangent. Zeros in its place would meet
        # infinite derivatives, such as that of the norm of a step that has converged.
        derived, flags = fixed_point(step, _there(ct_carry))
        found_consts, _, found_xs = self.parts(derived.results)
        known = [x for x in consts if isinstance(x, Value)]
        shared = [x for x, flag in zip(consts, found_consts, strict=True) if flag]
        # Many small terms are added to each: in bfloat16 a sum of ones would stop at 256.
        sums = [zeros_of(_type_of_sums(x.type)) for x in shared]
        moving = instantiated(carry, ct_carry, flags)
        known_rows = [x for x in xs if isinstance(x, Value)]

        def body(*arguments: Value) -> Sequence[Value]:
            cs, moved, totals, rows = _split(arguments, len(known), len(moving), len(sums))
            known_row, ct_row = rows[: len(known_rows)], rows[len(known_rows) :]
            found = call_function(
                transform.functions, derived.name, [*cs, *known_row, *moved, *ct_row]
            )
            ct_consts, ct_carried, ct_rows = self.parts(scatter(found, derived.results))
            added = [
                elementwise.add(total, conversion.convert(ct, mlir.dtype_of(total)))
                for total, ct in zip(totals, _active(ct_consts), strict=True)
            ]
            carried = instantiated(carry, ct_carried, flags)
            return [*carried, *added, *_active(ct_rows)]

        in_parts = [known, [*moving, *sums], [*known_rows, *_active(ct_ys)]]
        found = self._built(
            transform, f"{self.body}.transpose.step", body, in_parts, not self.reverse
        )
        carried, totals, rows = _split(found, len(moving), len(sums))
        totals = [
            conversion.convert(total, mlir.dtype_of_type(x.type))
            for total, x in zip(totals, shared, strict=True)
        ]
        ct_carry = scatter(carried, flags)
        ct_operands = [*scatter(totals, found_consts), *ct_carry, *scatter(rows, found_xs)]
        return [
            ct if isinstance(x, Linear) else None
            for x, ct in zip(operands, ct_operands, strict=True)
        ]

    # -- batching --

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        consts, carry, xs = self.parts(operands)
        const_axes, carry_axes, xs_axes = self.parts(axes)
        # The mapped axis of xs goes after that of the rows.
        xs = [
            shape.move_axis(x, 0, 1) if axis == 0 else x
            for x, axis in zip(xs, xs_axes, strict=True)
        ]
        row_axes = [None if axis is None else max(axis, 1) - 1 for axis in xs_axes]

        def step(flags: tuple[bool, ...]):
            places = [0 if flag else None for flag in flags]
            derived = transform.function(self.body, (*const_axes, *places, *row_axes))
            carried = derived.results[: self.num_carry]
            return derived, tuple(axis is not None for axis in carried)

        derived, flags = fixed_point(step, tuple(axis is not None for axis in carry_axes))
        size = transform.size
        start = batched_where(carry, carry_axes, size, flags)

        def body(*arguments: Value) -> Sequence[Value]:
            found = call_function(transform.functions, derived.name, arguments)
            carried, rows = self.results(found)
            carried = batched_where(carried, derived.results[: self.num_carry], size, flags)
            return [*carried, *rows]

        found = self._built(
            transform, f"{self.body}.batch.step", body, [consts, start, xs], self.reverse
        )
        ys_axes = derived.results[self.num_carry :]
        return found, [
            *(0 if flag else None for flag in flags),
            *(None if axis is None else axis + 1 for axis in ys_axes),
        ]

    def _built(
        self,
        transform: Transformation,
        name: str,
        step: Callable[..., Sequence[Value]],
        parts: Sequence[Sequence[Value]],
        reverse: bool,
    ) -> tuple[Value, ...]:
        """A scan of as many steps by another function, which is built for its operands."""
        consts, carry, xs = parts
        types = [*(x.type for x in [*consts, *carry]), *(row_type(x.type) for x in xs)]
        body = transform.build_function(name, types, step)
        scan = replace(
            self, body=body, reverse=reverse, num_consts=len(consts), num_carry=len(carry)
        )
        return tuple(scan.build([*consts, *carry, *xs]))


def _type_of_sums(type_: Type) -> Type:
    """Return the type of a sum of many arrays of a type."""
    return mlir.tensor_type(mlir.shape_of_type(type_), working_dtype(mlir.dtype_of_type(type_)))


def _there(tangents: Sequence[Tangent]) -> tuple[bool, ...]:
    return tuple(t is not None for t in tangents)


def _active(tangents: Sequence[Tangent]) -> list[Value]:
    return [t for t in tangents if t is not None]


def _split(values: Sequence[Value], *sizes: int) -> list[list[Value]]:
    """The values in groups of these sizes, and the rest of them."""
    groups, start = [], 0
    for size in sizes:
        groups.append(list(values[start : start + size]))
        start += size
    return [*groups, list(values[start:])]
