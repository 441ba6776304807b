"""Programs of whole arrays as programs of shards.

    func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32>
        attributes {irax.mesh = "data=2", irax.in_specs = [[["data"], []], [[], []]],
                    irax.out_specs = [unit]}

The result is the program that each device of the mesh runs. The layouts of arguments are given;
those of other values follow, operation by operation, from the ops' sharding rules. An op without a
rule is computed from whole arrays, by all devices: that is right, if slow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, takewhile, zip_longest
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.determinism import ATTRIBUTE as DETERMINISTIC
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.collective import AllReduce, axes_in
from irax_compiler.ops.control_flow.branches import choose
from irax_compiler.ops.control_flow.shard_map import (
    ShardMap,
    Spec,
    axes_of,
    decoded,
    encoded,
    is_shard_map,
)
from irax_compiler.ops.core import Op, UnsupportedOp, full
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.sharding_rule import ShardingRule
from irax_compiler.ops.structured import call_function
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.mesh.reshaped_parts import reshaped_layouts
from irax_compiler.passes.mesh.resharding import (
    Shards,
    axes_of_other,
    parts,
    replicated,
    resharded,
    sharded,
)
from irax_compiler.shardy.layouts import (
    IN_SPECS,
    MESH,
    OUT_SPECS,
    Mesh,
    StatedLayouts,
    mesh_of,
    set_mesh,
    stated,
)

Env = dict[Value, Shards]


def state_layouts(
    function: Operation, mesh: Mesh, in_specs: Sequence[Spec], out_specs: Sequence[Spec | None]
) -> None:
    """State that the devices of a mesh are to run a function, with the layouts of its arguments and
    results; None is for the layout that a result is computed in.
    """
    set_mesh(function, mesh)
    function.attributes[IN_SPECS] = encoded(in_specs)
    wanted = [mlir.parse_attribute("unit") if s is None else encoded(s) for s in out_specs]
    function.attributes[OUT_SPECS] = mlir.array(wanted)


def layouts_of_uses(function: Operation, mesh: Mesh) -> list[Spec]:
    """Return the layouts of the arguments of a function that are stated of it, or in which it first
    uses them: in a call of `irax.shard_map`. Others are not divided.

    Raises:
        UnsupportedOp: a call is for another mesh.
    """
    found = []
    layouts = stated(function)
    said = layouts.in_specs if layouts is not None and layouts.mesh == mesh else ()
    for argument, own in zip_longest(mlir.arguments(function), said):
        if own is not None:
            found.append(own)
            continue
        spec = replicated(len(shape_of(argument)))
        uses = [use for use in argument.uses if is_shard_map(use.owner.operation)]
        for use in reversed(uses):  # the last one added is the first in the list
            op: Any = read(use.owner.operation)
            if dict(op.mesh) != mesh:
                raise UnsupportedOp(
                    f"irax.shard_map at {use.owner.location} is for the mesh {dict(op.mesh)}, but "
                    f"the program for {mesh}"
                )
            spec = op.in_specs[use.operand_number]
            break
        found.append(spec)
    return found


def layouts_wanted(function: Operation, mesh: Mesh) -> Sequence[Spec | None]:
    """Return the layouts of results that are stated of a function; None for others."""
    layouts = stated(function)
    if layouts is not None and layouts.mesh == mesh:
        return layouts.out_specs
    return [None] * len(mlir.result_types(function))


def layouts_in(function: Operation) -> StatedLayouts | None:
    """Return the mesh that a function is for, with the layouts of its arguments and those of its
    results, as far as they are stated of it or calls of `irax.shard_map` have them; None for a
    program of one device.
    """
    mesh = mesh_in(function)
    if mesh is None:
        return None
    results = []
    returned = mlir.terminator(mlir.body(function)).operands
    for value, wanted in zip(returned, layouts_wanted(function, mesh), strict=True):
        operation = mlir.definition(value)
        if wanted is None and operation is not None and is_shard_map(operation):
            op: Any = read(operation)
            results_of_call: list[Any] = list(operation.results)
            wanted = op.out_specs[results_of_call.index(value)]
        results.append(wanted)
    return StatedLayouts(mesh, layouts_of_uses(function, mesh), results)


def mesh_in(function: Operation) -> Mesh | None:
    """Return the mesh that a function is for: one that is stated of it, or that of the first
    `irax.shard_map` in it. None for a program of one device.
    """
    layouts = stated(function)
    if layouts is not None:
        return layouts.mesh
    for operation in nested(function):
        if is_shard_map(operation):
            op: Any = read(operation)
            return dict(op.mesh)
    return None


def layouts_of_partitioned(function: Operation) -> tuple[Spec, ...]:
    """Return the layouts of the results of a function that was partitioned."""
    return decoded(function.attributes[OUT_SPECS])


@register_pass
class Partition(Pass):
    """Replaces functions of whole arrays, with the attributes `irax.mesh`, `irax.in_specs` and
    `irax.out_specs`, by the programs of the devices of the mesh. Calls must have been inlined.
    """

    name: ClassVar[str] = "partition"

    def run(self, module: Module) -> None:
        for function in list(mlir.functions(module).values()):
            if IN_SPECS in function.attributes:
                _partition(module, function)


def _partition(module: Module, function: Operation) -> None:
    mesh = mesh_of(function)
    partitioner = _Partitioner(module, mesh)
    name = mlir.function_name(function)
    in_specs = decoded(function.attributes[IN_SPECS])
    arguments = mlir.arguments(function)
    types = [
        mlir.tensor_type(sharded(shape_of(x), spec, mesh), dtype_of(x))
        for x, spec in zip(arguments, in_specs, strict=True)
    ]
    wanted: Any = function.attributes[OUT_SPECS]
    new = mlir.new_function(module, mlir.unique_name(module, name), types, function.location)
    with InsertionPoint(mlir.body(new)), function.location:
        given = map(Shards, mlir.arguments(new), in_specs)
        found = partitioner.block(mlir.body(function), dict(zip(arguments, given, strict=True)))
        specs = [
            x.spec if mlir.attribute_text(spec) == "unit" else decoded([spec])[0]
            for x, spec in zip(found, wanted, strict=True)
        ]
        results = [resharded(x, spec, mesh) for x, spec in zip(found, specs, strict=True)]
    mlir.finish_function(new, results)
    for attribute in (MESH, IN_SPECS, DETERMINISTIC, "sym_visibility"):
        if attribute in function.attributes:
            new.attributes[attribute] = function.attributes[attribute]
    new.attributes[OUT_SPECS] = encoded(specs)
    function.erase()
    new.attributes["sym_name"] = mlir.string(name)


class _Partitioner:
    """Builds operations on shards, block by block."""

    def __init__(self, module: Module, mesh: Mesh) -> None:
        self._functions = mlir.Functions(module)
        self._mesh = mesh

    def block(self, block: Block, env: Env) -> list[Shards]:
        """Build the operations of a block at the insertion point; return its results. `env` has the
        shards of its arguments and of the values that it captures.
        """
        env = dict(env)
        *operations, last = (view.operation for view in block.operations)
        for operation in operations:
            with operation.location:
                found = self._operation(operation, env)
            env.update(zip(operation.results, found, strict=True))
        return [env[v] for v in last.operands]

    def _operation(self, operation: Operation, env: Env) -> Sequence[Shards]:
        operands = [env[v] for v in operation.operands]
        if traits_of(operation).captures:
            if operation.name == "stablehlo.while":
                return self._loop(operation, operands, env)
            return self._branches(operation, operands[0], env)
        try:
            op = read(operation)
        except UnsupportedOp:
            return self._whole(operation, env)
        if isinstance(op, ShardMap):
            return self._shard_map(op, operands)
        shapes = [shape_of(x) for x in operation.operands], [shape_of(x) for x in operation.results]
        if isinstance(op, shape.Reshape) and all(shapes[0][0]):
            return [self._reshape(op, operands[0])]
        rule = op.sharding_rule(*shapes)
        if rule is None or not any(axes_of(x.meant or x.spec) for x in operands):
            return self._whole(operation, env)
        return self._by_rule(op, rule, operands, shapes[1])

    def _whole(self, operation: Operation, env: Env) -> list[Shards]:
        """Build the operation on whole arrays."""
        used = [*operation.operands, *mlir.captured(operation)]
        copies = {x: self._at(env[x], replicated(len(shape_of(x)))) for x in used if x in env}
        results = mlir.clone(operation, copies)
        return [Shards(x, replicated(len(shape_of(x)))) for x in results]

    def _at(self, x: Shards, spec: Spec) -> Value:
        return resharded(x, spec, self._mesh)

    # -- ops with a rule --

    def _by_rule(
        self,
        op: Op,
        rule: ShardingRule,
        operands: Sequence[Shards],
        results: Sequence[tuple[int, ...]],
    ) -> Sequence[Shards]:
        chosen, meant = self._chosen_axes(rule, operands, results)

        def spec_of(factors: Sequence[int | None], without: Collection[int] = ()) -> Spec:
            kept = [f if f not in without else None for f in factors]
            return tuple(() if f is None else chosen.get(f, ()) for f in kept)

        def meant_of(factors: Sequence[int | None]) -> Spec:
            return tuple(() if f is None else meant.get(f, ()) for f in factors)

        values = [
            self._at(x, spec_of(factors, rule.gathered))
            for x, factors in zip(operands, rule.operands, strict=True)
        ]
        specs = [spec_of(factors, rule.gathered) for factors in rule.results]
        combined = {f: combiner for f, combiner in rule.reduced.items() if chosen.get(f)}
        start = None if rule.init is None or not combined else values[rule.init]
        if start is not None and rule.init is not None:
            neutral = reduce.identity(next(iter(combined.values())), dtype_of(start))
            values[rule.init] = full(shape_of(start), neutral, dtype_of(start))
        shapes = [sharded(n, spec, self._mesh) for n, spec in zip(results, specs, strict=True)]
        found = list(op.on_shards([shape_of(x) for x in values], shapes).build(values))
        for factor, combiner in combined.items():
            for axis in chosen[factor]:
                found = [AllReduce(axis, self._mesh[axis], combiner=combiner)(x) for x in found]
        if start is not None:
            found = [_combined(next(iter(combined.values())), x, start) for x in found]
        is_broadcast = isinstance(op, shape.BroadcastInDim)
        return [
            Shards(self._at(Shards(x, spec), wanted), wanted, is_broadcast, meant_of(factors))
            for x, spec, factors in zip(found, specs, rule.results, strict=True)
            for wanted in [spec_of(factors)]
        ]

    def _reshape(self, op: shape.Reshape, x: Shards) -> Shards:
        before = x.whole_shape(self._mesh)
        layouts = reshaped_layouts(before, op.shape, x.spec, self._mesh)
        extents = sharded(op.shape, layouts.found, self._mesh)
        made = Shards(shape.reshape(self._at(x, layouts.given), extents), layouts.found)
        return Shards(self._at(made, layouts.wanted), layouts.wanted, x.is_broadcast)

    def _chosen_axes(
        self,
        rule: ShardingRule,
        operands: Sequence[Shards],
        results: Sequence[tuple[int, ...]],
    ) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]]:
        """The axes along which the dimensions of each factor are divided, as Shardy chooses them:
        where operands differ, those that all have in common; operands that are broadcast follow the
        others. An axis divides one factor of an array, or one of an op that reduces: one of the
        results before others. And the axes along which they were, if their sizes could be.
        """
        own, spread = (
            _axes_of_factors(rule, operands, False),
            _axes_of_factors(rule, operands, True),
        )
        wanted = {**own, **{f: axes for f, axes in spread.items() if f not in own}}
        extents = self._extents(rule, operands, results)
        chosen: dict[int, tuple[str, ...]] = {}
        meant: dict[int, tuple[str, ...]] = {}
        together = [set(factors) for factors in (*rule.operands, *rule.results)]

        def taken(factor: int) -> set[str]:
            return {
                axis
                for other, axes in chosen.items()
                if rule.reduced or any({factor, other} <= factors for factors in together)
                for axis in axes
            }

        def order(factor: int) -> tuple[Any, ...]:
            count = 1 if rule.reduced else parts(_compatible(wanted[factor]), self._mesh)
            is_result = any(factor in factors for factors in rule.results)
            return not is_result, factor in rule.gathered, factor not in own, -count

        for factor in sorted(wanted, key=order):
            meant[factor] = axes = _before(taken(factor), _compatible(wanted[factor]))
            while any(n % parts(axes, self._mesh) for n in extents[factor]):
                axes = axes[:-1]
            chosen[factor] = axes
        return chosen, meant

    def _extents(
        self,
        rule: ShardingRule,
        operands: Sequence[Shards],
        results: Sequence[tuple[int, ...]],
    ) -> dict[int, list[int]]:
        """The sizes of the dimensions of each factor that may be divided."""
        found: dict[int, list[int]] = {}
        shapes = [*(x.whole_shape(self._mesh) for x in operands), *results]
        for i, factors in enumerate((*rule.operands, *rule.results)):
            for size, factor in zip(shapes[i], factors, strict=True):
                if factor is not None and (i >= len(operands) or factor not in rule.gathered):
                    found.setdefault(factor, []).append(size)
        return found

    # -- ops with functions and regions --

    def _shard_map(self, op: ShardMap, operands: Sequence[Shards]) -> list[Shards]:
        takes, gives = op.in_specs, op.out_specs
        if lacking := [n for n, size in op.mesh if size > 1 and n not in self._mesh]:
            own = axes_of_other(dict(op.mesh), self._mesh)
            if own is None or axes_in(self._functions[op.body]):
                axes = ", ".join(f"{name}={size}" for name, size in self._mesh.items())
                raise ValueError(
                    f"a program divides arrays along the axes {lacking}, but runs on a mesh with "
                    f"the axes {axes}: use one mesh in a program, or join its axes in the other"
                )
            takes, gives = (
                tuple(
                    tuple(tuple(chain(*(own[a] for a in axes))) for axes in spec) for spec in specs
                )
                for specs in (takes, gives)
            )
        others = [] if lacking else [name for name in self._mesh if name not in op.manual]
        inside = [self._along(others, x, spec) for x, spec in zip(operands, takes, strict=True)]
        pairs = [(tuple(map(_joined, a, b))) for a, b in zip(takes, inside, strict=True)]
        given = [self._at(x, spec) for x, spec in zip(operands, pairs, strict=True)]
        if not any(map(axes_of, inside)):
            found = call_function(self._functions, op.body, given)
            return list(map(Shards, found, gives))
        body = mlir.body(self._functions[op.body])
        shards = map(Shards, given, inside)
        results = self.block(body, dict(zip(body.arguments, shards, strict=True)))
        return [
            Shards(x.value, tuple(map(_joined, spec, x.spec)))
            for x, spec in zip(results, gives, strict=True)
        ]

    def _along(self, axes: Collection[str], x: Shards, taken: Spec) -> Spec:
        """The division of an array along some axes, for shards that it is divided into by others,
        as far as their dimensions are multiples of the numbers of parts.
        """
        found = []
        for n, own, others in zip(x.whole_shape(self._mesh), x.spec, taken, strict=True):
            kept = tuple(axis for axis in own if axis in axes)
            count = parts(others, self._mesh) * parts(kept, self._mesh)
            found.append(() if n % count else kept)
        return tuple(found)

    def _loop(self, operation: Operation, carry: Sequence[Shards], env: Env) -> list[Shards]:
        """Build a loop whose carry has the layout that it begins with; what is not divided then may
        have the layout that the first step gives it.
        """
        condition, body = (region.blocks[0] for region in operation.regions)
        specs = [x.spec for x in carry]
        after: list[Spec] = []

        def step(block: Block, values: Sequence[Value]) -> list[Shards]:
            given = dict(zip(block.arguments, map(Shards, values, specs), strict=True))
            return self.block(block, {**env, **given})

        def go_on(*values: Value) -> Value:
            (found,) = step(condition, values)
            return self._at(found, ())

        def advance(*values: Value) -> list[Value]:
            found = step(body, values)
            after[:] = [x.spec for x in found]
            return [self._at(x, spec) for x, spec in zip(found, specs, strict=True)]

        while True:
            start = [self._at(x, spec) for x, spec in zip(carry, specs, strict=True)]
            results = while_loop(go_on, advance, start)
            better = [
                new if not axes_of(old) and axes_of(new) else old
                for old, new in zip(specs, after, strict=True)
            ]
            if better == specs or not results:
                return list(map(Shards, results, specs))
            _erase_definition(results[0])
            specs = better

    def _branches(self, operation: Operation, chooser: Shards, env: Env) -> list[Shards]:
        """Build branches whose results have the layouts that they have in all branches; those that
        differ are whole arrays.
        """
        results = [shape_of(x) for x in operation.results]
        specs = [replicated(len(extents)) for extents in results]
        ends: list[list[Spec]] = []

        def build(block: Block) -> list[Value]:
            found = self.block(block, env)
            ends.append([x.spec for x in found])
            return [self._at(x, spec) for x, spec in zip(found, specs, strict=True)]

        branches = [lambda block=region.blocks[0]: build(block) for region in operation.regions]
        found = choose(operation.name, self._at(chooser, ()), branches)
        common = [
            of_all[0] if len(set(of_all)) == 1 else spec
            for of_all, spec in zip(zip(*ends, strict=True), specs, strict=True)
        ]
        if found and common != specs:
            _erase_definition(found[0])
            specs = common
            found = choose(operation.name, self._at(chooser, ()), branches)
        return list(map(Shards, found, specs))


def _axes_of_factors(
    rule: ShardingRule, operands: Sequence[Shards], is_broadcast: bool
) -> dict[int, list[tuple[str, ...]]]:
    """Return the axes of the mesh along which dimensions of each factor are divided, in operands
    that are broadcast, or in the others.
    """
    found: dict[int, list[tuple[str, ...]]] = {}
    for x, factors in zip(operands, rule.operands, strict=True):
        for axes, factor in zip(x.meant or x.spec, factors, strict=True):
            if factor is not None and axes and x.is_broadcast == is_broadcast:
                found.setdefault(factor, []).append(axes)
    return found


def _before(taken: Collection[str], axes: Sequence[str]) -> tuple[str, ...]:
    """The axes before the first one that is taken."""
    return tuple(takewhile(lambda axis: axis not in taken, axes))


def _compatible(found: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest of some lists of axes as far as the others begin alike, or end."""
    axes: list[str] = []
    while here := {of_one[len(axes)] for of_one in found if len(of_one) > len(axes)}:
        if len(here) > 1:
            break
        axes.extend(here)
        found = [of_one for of_one in found if len(of_one) >= len(axes)]
    return tuple(axes)


def _erase_definition(x: Value) -> None:
    operation = mlir.definition(x)
    assert operation is not None
    operation.erase()


def _combined(combiner: str, x: Value, start: Value) -> Value:
    """A reduction's result combined with the init value."""
    spread = shape.broadcast_scalar(start, shape_of(x))
    return mlir.emit(f"stablehlo.{combiner}", [x, spread]).results[0]


def _joined(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return (*one, *other)
