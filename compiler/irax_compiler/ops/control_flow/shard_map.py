"""The op irax.shard_map: a call of a function that each device of a mesh runs on its shards.

    stablehlo.custom_call @irax.shard_map(%x) {backend_config = {body = @f, check_vma = true,
        manual = ["i"], mesh = ["i", "j"], sizes = array<i64: 2, 4>,
        in_specs = [[["i"], []]], out_specs = [[[]]]}} : (tensor<8x3xf32>) -> tensor<3xf32>

Operands and results are whole arrays, the function is of shards. A spec says, for each dimension
of an array, along which axes of the mesh it is divided; the first axis is the slowest. An array is
the same along the *manual* axes that its spec lacks. Axes of the mesh that are not manual do not
concern the function.

With `check_vma` the function says by `irax.pvary`, and by sums that are invariant, where values
begin and end to differ between devices (`ops/collective.py`), and its transpose follows from that.
Without, a result whose spec lacks an axis stands for the mean of what the devices have: so the
cotangent of each device is its part of the result's, and the cotangents of an operand are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value, shape_of
from irax_compiler.ops import elementwise, lockstep, shape
from irax_compiler.ops.attributes import FLAG, I64S, STRINGS, SYMBOL, call_attributes
from irax_compiler.ops.collective import AllReduce, axes_in
from irax_compiler.ops.core import Axis, Linear, Tangent, full_like
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.structured import StructuredOp, call_function, scatter
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Linearization,
    Transposition,
)

TARGET = "irax.shard_map"

Spec = tuple[tuple[str, ...], ...]
"""For each dimension of an array, the axes of the mesh along which it is divided."""


def axes_of(spec: Spec) -> set[str]:
    """The axes of the mesh along which an array is divided."""
    return {axis for axes in spec for axis in axes}


def part_of(
    extents: Sequence[int], spec: Spec, place: Mapping[str, int], sizes: Mapping[str, int]
) -> tuple[slice, ...]:
    """The slices of an array that are the shard of the device at a place along each axis."""
    slices = []
    for extent, axes in zip(extents, spec, strict=True):
        number = 0
        for axis in axes:
            number = number * sizes[axis] + place[axis]
        length = extent // prod(sizes[axis] for axis in axes)
        slices.append(slice(number * length, (number + 1) * length))
    return tuple(slices)


@dataclass(frozen=True)
class ShardMap(StructuredOp):
    """A call of `body` by each device of a mesh."""

    name = "stablehlo.custom_call"
    num_results: ClassVar[int] = -1
    body: str
    mesh: tuple[tuple[str, int], ...]
    """The axes of the mesh and their sizes."""
    manual: tuple[str, ...]
    """The axes along which operands and results may be divided, in the order of the mesh."""
    in_specs: tuple[Spec, ...]
    out_specs: tuple[Spec, ...]
    check_vma: bool = True
    """True if values that are invariant along an axis are told from others in the body."""

    # -- building and reading --

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        function = mlir.Functions(mlir.open_module())[self.body]
        results = zip(mlir.result_types(function), self.out_specs, strict=True)
        types = [self.whole_type(type_, spec) for type_, spec in results]
        config = {
            "body": SYMBOL.encode(self.body),
            "mesh": STRINGS.encode([axis for axis, _ in self.mesh]),
            "sizes": I64S.encode([size for _, size in self.mesh]),
            "manual": STRINGS.encode(self.manual),
            "in_specs": encoded(self.in_specs),
            "out_specs": encoded(self.out_specs),
            "check_vma": FLAG.encode(self.check_vma),
        }
        acts = any(effects.has_effects(o.operation) for o in mlir.body(function).operations)
        attributes = call_attributes(TARGET, config, acts)
        return tuple(mlir.emit(self.name, operands, attributes, types).results)

    @classmethod
    def read(cls, operation: Operation) -> ShardMap:
        config: Any = operation.attributes["backend_config"]
        mesh = zip(STRINGS.decode(config["mesh"]), I64S.decode(config["sizes"]), strict=True)
        return cls(
            SYMBOL.decode(config["body"]),
            tuple(mesh),
            STRINGS.decode(config["manual"]),
            decoded(config["in_specs"]),
            decoded(config["out_specs"]),
            FLAG.decode(config["check_vma"]),
        )

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the manual axes."""
        return {axis: size for axis, size in self.mesh if axis in self.manual}

    def shards(self, axes: Iterable[str]) -> int:
        """The number of parts of a dimension that is divided along some axes."""
        return prod(self.sizes[axis] for axis in axes)

    def whole_type(self, type_: Any, spec: Spec) -> Type:
        """The type of the array that has shards of a type."""
        extents = zip(type_.shape, spec, strict=True)
        whole = tuple(n * self.shards(axes) for n, axes in extents)
        return mlir.tensor_type(whole, mlir.dtype_of_type(type_))

    def shard_type(self, type_: Any, spec: Spec) -> Type:
        """The type of the shards of an array of a type."""
        extents = zip(type_.shape, spec, strict=True)
        part = tuple(n // self.shards(axes) for n, axes in extents)
        return mlir.tensor_type(part, mlir.dtype_of_type(type_))

    # -- evaluation --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        arrays = [np.asarray(x) for x in operands]
        watch = evaluate.watch()

        def run(place: Mapping[str, int]) -> Sequence[np.ndarray]:
            own = [
                np.asarray(x[part_of(x.shape, spec, place, self.sizes)], order="C")
                for x, spec in zip(arrays, self.in_specs, strict=True)
            ]
            with evaluate.watching(watch):
                return call(self.body, own)

        found = lockstep.for_each_device(self.sizes, run)
        return [
            self._whole(spec, [(place, results[i]) for place, results in found])
            for i, spec in enumerate(self.out_specs)
        ]

    def _whole(
        self, spec: Spec, shards: Sequence[tuple[Mapping[str, int], np.ndarray]]
    ) -> np.ndarray:
        """The array that has these shards; of shards in one place the first one."""
        _, first = shards[0]
        extents = zip(first.shape, spec, strict=True)
        whole = np.empty([n * self.shards(axes) for n, axes in extents], first.dtype)
        for place, shard in reversed(shards):
            whole[part_of(whole.shape, spec, place, self.sizes)] = shard
        return whole

    # -- derivatives --

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        flags = [t is not None for t in tangents]
        derived = transform.function(self.body, tuple(flags))
        op = replace(
            self,
            body=derived.name,
            in_specs=(*self.in_specs, *compress(self.in_specs, flags)),
            out_specs=(*self.out_specs, *compress(self.out_specs, derived.results)),
        )
        found = op.build([*primals, *(t for t in tangents if t is not None)])
        count = len(self.out_specs)
        return found[:count], scatter(found[count:], derived.results)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """Residuals are stacked: each device has a row of its own."""
        flags = [t is not None for t in tangents]
        derived = transform.function(self.body, tuple(flags))
        count = len(self.out_specs)
        own = [i for i, r in enumerate(derived.residuals) if not isinstance(r, int)]

        def forward(*arguments: Value) -> Sequence[Value]:
            found = call_function(transform.functions, derived.name, arguments)
            rows = [found[count + i] for i in own]
            return [*found[:count], *(shape.reshape(x, (1, *shape_of(x))) for x in rows)]

        functions = transform.functions
        saved_types: list[Any] = mlir.result_types(functions[derived.name])[count:]
        stacked: list[Spec] = [(self.manual, *((),) * len(saved_types[i].shape)) for i in own]
        op = replace(
            self,
            body=self._built(transform, f"{self.body}.fwd.shard", forward, derived.name),
            out_specs=(*self.out_specs, *stacked),
        )
        found = op.build(primals)
        if not any(derived.results):
            return found[:count], [None] * count
        kept = dict(zip(own, zip(found[count:], stacked, strict=True), strict=True))
        residuals, specs = [], []
        for i, r in enumerate(derived.residuals):
            value, spec = (primals[r], self.in_specs[r]) if isinstance(r, int) else kept[i]
            residuals.append(value)
            specs.append(spec)

        def linear(*arguments: Value) -> Sequence[Value]:
            given = [
                shape.reshape(x, shape_of(x)[1:]) if i in kept else x
                for i, x in enumerate(arguments[: len(residuals)])
            ]
            moving = arguments[len(residuals) :]
            return call_function(transform.functions, derived.linear, [*given, *moving])

        active = [t for t in tangents if t is not None]
        in_specs = (*specs, *compress(self.in_specs, flags))
        types = [
            self.shard_type(x.type, s) for x, s in zip([*residuals, *active], in_specs, strict=True)
        ]
        op = replace(
            self,
            body=transform.build_function(f"{self.body}.lin.shard", types, linear),
            in_specs=in_specs,
            out_specs=tuple(compress(self.out_specs, derived.results)),
        )
        moved = op.build([*residuals, *active])
        return found[:count], scatter(moved, derived.results)

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> Sequence[bool]:
        return dependence.results(self.body, flags)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        linear = [isinstance(x, Linear) for x in operands]
        there = [ct is not None for ct in cotangents]
        derived = transform.function(self.body, (tuple(linear), tuple(there)))
        known = [x for x in operands if not isinstance(x, Linear)]
        known_specs = [s for s, flag in zip(self.in_specs, linear, strict=True) if not flag]
        given_specs = list(compress(self.out_specs, there))
        out_specs = list(compress(self.in_specs, derived.results))
        body = derived.name
        if not self.check_vma:
            body = self._of_means(transform, body, len(known), given_specs, out_specs)
        op = replace(
            self,
            body=body,
            in_specs=(*known_specs, *given_specs),
            out_specs=tuple(out_specs),
        )
        found = op.build([*known, *(ct for ct in cotangents if ct is not None)])
        return scatter(found, derived.results)

    def _of_means(
        self,
        transform: Transposition,
        transposed: str,
        num_known: int,
        given: Sequence[Spec],
        found: Sequence[Spec],
    ) -> str:
        """A transposed body that takes a part of the cotangents of results that all devices have,
        and sums the cotangents of operands that all devices have.
        """

        def build(*arguments: Value) -> Sequence[Value]:
            parts = [
                _divided(ct, self.shards(self._lacking(spec)))
                for ct, spec in zip(arguments[num_known:], given, strict=True)
            ]
            cts = call_function(transform.functions, transposed, [*arguments[:num_known], *parts])
            return [self._summed(ct, spec) for ct, spec in zip(cts, found, strict=True)]

        return self._built(transform, f"{self.body}.transpose.shard", build, transposed)

    def _lacking(self, spec: Spec) -> list[str]:
        """The manual axes along which an array is not divided."""
        return [axis for axis in self.manual if axis not in axes_of(spec)]

    def _summed(self, x: Value, spec: Spec) -> Value:
        for axis in self._lacking(spec):
            x = AllReduce(axis, self.sizes[axis], "add")(x)
        return x

    def _built(
        self,
        transform: Any,
        name: str,
        build: Callable[..., Sequence[Value]],
        like: str,
    ) -> str:
        """A new function of arguments like those of another one."""
        types = [x.type for x in mlir.arguments(transform.functions[like])]
        return transform.build_function(name, types, build)

    # -- batching --

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        divided = self._axes_of_lanes(transform, axes)
        if divided:
            body = transform.part(self.shards(divided))(self.body, tuple(axes))
            results: Sequence[Axis] = (0,) * len(self.out_specs)
        else:
            derived = transform.function(self.body, tuple(axes))
            body, results = derived.name, derived.results
        op = replace(
            self,
            body=body,
            in_specs=_with_lanes(self.in_specs, axes, divided),
            out_specs=_with_lanes(self.out_specs, results, divided),
        )
        return op.build(operands), results

    def _axes_of_lanes(self, transform: Batching, axes: Sequence[Axis]) -> tuple[str, ...]:
        """The axes of the mesh along which lanes are divided. All devices have all lanes where an
        operand is the same for all, for its cotangent would be a sum over devices, where the body
        communicates among the lanes, and where a residual has a row for each device.
        """
        names = transform.mesh_axes
        if lacking := sorted(set(names) - {axis for axis, _ in self.mesh}):
            raise ValueError(
                f"vmap: spmd_axis_name={names}, but the mesh of a sharding inside has no axes "
                f"{lacking}: expected some of {[axis for axis, _ in self.mesh]}"
            )
        if not set(names) <= set(self.manual) or transform.size % self.shards(names):
            return ()
        if set(names) & set().union(*map(axes_of, (*self.in_specs, *self.out_specs))):
            return ()
        body = mlir.Functions(mlir.open_module())[self.body]
        if None in axes or axes_in(body) & {*names, transform.axis_name}:
            return ()
        return names


def is_shard_map(operation: Operation) -> bool:
    """True if an operation was built by `ShardMap`."""
    if operation.name != ShardMap.name:
        return False
    target: Any = operation.attributes["call_target_name"]
    return target.value == TARGET


def _with_lanes(
    specs: Sequence[Spec], axes: Sequence[Axis], divided: tuple[str, ...]
) -> tuple[Spec, ...]:
    """Specs with a dimension for the lanes, which is divided along some axes of the mesh."""
    pairs = zip(specs, axes, strict=True)
    return tuple(s if a is None else (*s[:a], divided, *s[a:]) for s, a in pairs)


def _divided(x: Value, count: int) -> Value:
    return x if count == 1 else elementwise.divide(x, full_like(x, count))


def encoded(specs: Any) -> Attribute:
    """Nested tuples of names as nested arrays."""
    if isinstance(specs, str):
        return mlir.string(specs)
    return mlir.array([encoded(each) for each in specs])


def decoded(attribute: Any) -> tuple[Spec, ...]:
    return tuple(tuple(tuple(axis.value for axis in axes) for axes in spec) for spec in attribute)
