"""shard_map: a function of shards, which each device of a mesh runs on its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax.config import config
from irax.core.array import Array, ConcreteArray
from irax.core.avals import ShapedArray, sums_of
from irax.core.callables import check_callable
from irax.core.dispatch import bind
from irax.core.settings import rule_logs
from irax.core.shardings import axis_names, explicit_axes, meshes
from irax.core.shardings.axis_names import BoundAxis, text_of
from irax.core.shardings.meshes import AbstractMesh, AxisType, Mesh
from irax.core.shardings.partition_specs import (
    Infer,
    PartitionSpec,
    axes_by_dimension,
    axes_of_entry,
)
from irax.core.shardings.pvary import pvary
from irax.core.shardings.shard_traces import ShardTrace
from irax.core.shardings.sharded import sharding_of
from irax.core.shardings.shardings import NamedSharding, check_kind
from irax.core.shardings.unreduced import summands, summed, with_sums
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Known, Trace, Traced, Tracer, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import Arguments, FlatFunction, name_of
from irax.core.wrapping import wraps
from irax.execution.shardings.jit_shardings import check_constrained, on_devices
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec, axes_of
from irax_compiler.ops.sums import WHOLE
from irax_compiler.sizes import is_symbolic


@api_boundary
def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Collection[Any] = frozenset(),
    check_vma: bool = True,
) -> Callable[..., Any]:
    """Return a function of whole arrays, of which each device of a mesh computes a part by `f`.

    Args:
        f: a function of pytrees of shards. Without it, a decorator is returned.
        out_specs: for each result, the axes of the mesh along which shards are joined to an array:
            a `PartitionSpec`, or a pytree of them that is a prefix of the result.
        in_specs: likewise for the positional arguments, which are divided into shards; None for an
            argument that is no array. Where all axes are of type `Explicit`, they follow from the
            arguments' shardings by default, and must be the same.
        mesh: the devices; by default the mesh of the context (`irax.set_mesh`).
        axis_names: the axes of the mesh along which arrays are divided; by default all.
        check_vma: True to tell values that are the same on all devices from others: `out_specs` are
            checked by it, and derivatives taken in `f` are those of the whole program.

    Returns:
        The function of whole arrays.

    Raises:
        TypeError: `f` is not a function; or on a call, without `in_specs`, an axis of type `Auto`.
        ValueError: on a call, where specs do not fit arguments, results or the mesh, or differ
            from how arguments are divided along `Explicit` axes, or a result differs between
            devices along an axis that its spec lacks, or the mesh is not that of the context, which
            has one.
        NotImplementedError: on a call, an argument has symbolic sizes.

    >>> mesh = irax.make_mesh((1,), ("i",), axis_types=(irax.sharding.AxisType.Auto,))
    >>> total = irax.shard_map(
    ...     lambda x: irax.lax.psum(x.sum(), "i"),
    ...     mesh=mesh,
    ...     in_specs=irax.P("i"),
    ...     out_specs=irax.P(),
    ... )
    >>> total(irax.numpy.arange(4.0))
    Array(6., dtype=float32)
    """
    if f is None:
        return functools.partial(
            shard_map,
            out_specs=out_specs,
            in_specs=in_specs,
            mesh=mesh,
            axis_names=axis_names,
            check_vma=check_vma,
        )
    check_callable(f, "shard_map")

    @api_boundary
    @wraps(f)
    def mapped(*args: Any) -> Any:
        _check_mesh(mesh)
        setting = Setting.of(name_of(f), mesh, axis_names, check_vma)
        if in_specs is Infer:
            _check_explicit(setting)

        def specs_of_results(results: Any) -> list[PartitionSpec]:
            return _out_specs(setting, out_specs, results)

        own = rule_logs.uncounted(f)
        return call_on_shards(setting, own, in_specs, specs_of_results, args)

    return mapped


def _check_mesh(mesh: Any) -> None:
    """Raise ValueError for another mesh than that of `set_mesh`."""
    context = config.mesh
    if context is None or mesh is None or meshes.get_abstract_mesh().manual_axes:
        return
    if mesh not in (context, context.abstract_mesh):
        raise ValueError(
            f"shard_map: mesh is {mesh!r}, and the mesh of the context is {context!r}; expected "
            "the same, or none: leave one of them out"
        )


def _check_explicit(setting: Setting) -> None:
    """Raise TypeError where arrays' types do not tell how arguments are divided."""
    if others := [axis for axis in setting.manual if axis in setting.mesh.auto_axes]:
        raise TypeError(
            f"shard_map: in_specs was not given, and the axes {others} of the mesh are of type "
            "Auto: it follows along Explicit axes alone; give in_specs (for smap, in_axes)"
        )


@dataclass(frozen=True)
class Setting:
    """The mesh that a function of shards is for, and its axes along which arrays are divided."""

    function: str
    mesh: AbstractMesh
    manual: tuple[Any, ...]
    check_vma: bool
    devices: Mesh | None
    """The mesh with its devices, if they are known."""

    @classmethod
    def of(cls, function: str, mesh: Any, names: Collection[Any], check_vma: bool) -> Setting:
        if isinstance(names, str) or not isinstance(names, Collection):
            raise TypeError(f"shard_map: axis_names must be a set of names, got {names!r}")
        context = meshes.get_abstract_mesh()
        if mesh is None:
            mesh = context
        if not isinstance(mesh, Mesh | AbstractMesh):
            raise TypeError(f"shard_map: mesh must be a Mesh, got {mesh!r}")
        if mesh.empty:
            raise ValueError(
                "shard_map: there is no mesh: give one as mesh=, or enter that of the context by "
                "`with irax.set_mesh(mesh):`"
            )
        around = set(context.manual_axes)
        manual = tuple(a for a in mesh.axis_names if a in names or (not names and a not in around))
        if unknown := [a for a in names if a not in mesh.axis_names]:
            raise ValueError(
                f"shard_map: axis_names has {unknown}, which are no axes of the mesh; it has "
                f"{mesh.axis_names}"
            )
        bound = {axis.name for axis in axis_names.bound()}
        if twice := [a for a in manual if a in bound]:
            raise ValueError(
                f"shard_map: {function} is mapped along the axis {twice[0]!r} already; axes of a "
                "mesh and of vmap that are nested must have different names"
            )
        concrete = mesh if isinstance(mesh, Mesh) else meshes.current_mesh()
        known = not concrete.empty and concrete.abstract_mesh == mesh.abstract_mesh
        devices = concrete if known else None
        return cls(function, mesh.abstract_mesh, manual, check_vma, devices)

    def put(
        self,
        arrays: Sequence[Array],
        specs: Sequence[PartitionSpec],
        layouts: Sequence[PartitionSpec],
    ) -> list[Array]:
        """Return arrays on the devices, outside of traces, in some layouts, or, as they are, those
        that are divided by their specs along the manual axes; a trace notes that it is for them.
        """
        if self.devices is None:
            return list(arrays)
        devices = self.devices

        def put(x: Array, spec: PartitionSpec, layout: PartitionSpec) -> Array:
            if _is_divided_so(self, x, spec):
                return x
            kind = x.aval.memory_kind
            return on_devices(x, NamedSharding(devices, layout, memory_kind=kind))

        return list(map(put, arrays, specs, layouts))

    def shards(self, axes: Iterable[Any]) -> int:
        """The number of parts of a dimension that is divided along some axes."""
        return prod(self.mesh.shape[axis] for axis in axes)

    def sizes(self) -> dict[str, int]:
        """The sizes of the manual axes, by their names in the IR."""
        return {text_of(axis): self.mesh.shape[axis] for axis in self.manual}

    def names(self) -> list[str]:
        """The names of the devices, by their places along the manual axes; of those that share a
        place, the first.
        """
        if self.devices is None:
            return []
        others = tuple(0 if a not in self.manual else slice(None) for a in self.mesh.axis_names)
        return [f"{d.platform}:{d.id}" for d in self.devices.devices[others].flat]

    def is_local(self) -> bool:
        """Return True if this process has all elements of arrays on the devices."""
        return self.devices is not None and not self.devices.is_multi_process

    def bound(self) -> list[BoundAxis]:
        """The axes that collectives in the function may name."""
        own = [BoundAxis(a, self.mesh.shape[a], self.check_vma) for a in self.manual]
        return [*axis_names.bound(), *own]

    def inside(self) -> AbstractMesh:
        """The mesh as the function sees it."""
        return self.mesh.update_axis_types(dict.fromkeys(self.manual, AxisType.Manual))

    def check_spec(self, what: str, spec: Any) -> None:
        """Raise an error for what is no spec, names another axis than the manual ones, or leaves a
        dimension open.
        """
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"shard_map: {what} must be of PartitionSpec (irax.P), got {spec!r}")
        check_constrained(f"shard_map: {what}", spec)
        check_kind(spec)
        dividing = [axis for entry in spec.partitions for axis in axes_of_entry(entry)]
        for axis in (*dividing, *spec.unreduced, *spec.reduced):
            if axis not in self.manual:
                raise ValueError(
                    f"shard_map: {what} has {spec}, but {axis!r} is none of the axes along which "
                    f"{self.function} is mapped, {self.manual}"
                )

    def spec(self, spec: PartitionSpec, rank: int) -> Spec:
        """A spec as the IR has it."""
        return tuple(tuple(map(text_of, axes)) for axes in axes_by_dimension(spec, rank))


def call_on_shards(
    setting: Setting,
    f: Callable[..., Any],
    in_specs: Any,
    specs_of_results: Callable[[Any], list[PartitionSpec]],
    args: tuple[Any, ...],
) -> Any:
    """Return the results of a function of shards, as whole arrays; `specs_of_results` returns a
    spec for each leaf of its results.
    """
    arguments = Arguments.of(f, args, {})
    specs = _in_specs(setting, in_specs, args, arguments.whole)
    positions = [i for i, spec in enumerate(specs) if spec is not None]
    arrays, inputs, given = [], [], []
    for i in positions:
        array, shown = arguments.array(i, "shard_map")
        name, spec = arguments.names[i], specs[i]
        assert spec is not None
        _check_argument(setting, name, shown, spec)
        _check_agrees(setting, name, array, spec)
        arrays.append(array)
        given.append(setting.spec(spec, array.ndim))
        inputs.append(Input(_shard(setting, explicit_axes.typeof(array), spec), None, name))
    flat = FlatFunction(f, arguments.tree)
    found: list[PartitionSpec] = []

    def of_shards(*shards: Array) -> list[Array]:
        taken = [summands(x, _unreduced(specs[i])) for i, x in zip(positions, shards, strict=True)]
        results = flat(*arguments.with_leaves(positions, taken))
        skeleton = array_trees.tree_unflatten(flat.out_tree, results)
        found[:] = specs_of_results(skeleton)
        pairs = zip(results, found, strict=True)
        results = [summed(x, _unreduced(spec)) for x, spec in pairs]
        if not setting.check_vma:
            return results
        return [
            pvary(x, {text_of(a) for axes in axes_by_dimension(spec, x.ndim) for a in axes})
            for x, spec in zip(results, found, strict=True)
        ]

    wholes = list(zip(map(Known.of, arrays), given, strict=True)) if setting.is_local() else []
    with axis_names.all_bound(setting.bound()), meshes.use_abstract_mesh(setting.inside()):
        traced = trace_function(
            of_shards,
            inputs,
            "shard_map",
            setting.function,
            trace_type=functools.partial(ShardTrace, setting.sizes(), wholes, setting.names()),
        )
    if setting.check_vma:
        _check_varying(setting, traced, found)
    for x in traced.captures:
        _check_captured(setting, x)
    given += [((),) * x.ndim for x in traced.captures]
    out = [setting.spec(s, a.ndim) for s, a in zip(found, traced.results, strict=True)]
    for argument, own in (("in_specs", given), ("out_specs", out)):
        axis_names.check_not_of_lanes(set().union(*map(axes_of, own)), f"shard_map: {argument}")
    op = ShardMap(
        traced.name,
        tuple((text_of(a), n) for a, n in setting.mesh.shape_tuple),
        tuple(map(text_of, setting.manual)),
        tuple(given),
        tuple(out),
        setting.check_vma,
    )
    divided = [(specs[i] or PartitionSpec()).update(unreduced=(), reduced=()) for i in positions]
    divided += [PartitionSpec()] * len(traced.captures)
    wholes_of = [with_sums(x, WHOLE) for x in (*arrays, *traced.captures)]
    operands = setting.put(wholes_of, divided, divided)
    layouts = list(map(_layout, found, traced.results))
    results = setting.put(bind(op, *operands, builder=traced.builder), found, layouts)
    results = [with_sums(x, sums_of(spec)) for x, spec in zip(results, found, strict=True)]
    typed = [x.with_weak_type(w) for x, w in zip(results, traced.weak, strict=True)]
    return array_trees.tree_unflatten(flat.out_tree, typed)


def _unreduced(spec: PartitionSpec | None) -> set[str]:
    return set() if spec is None else set(map(text_of, spec.unreduced))


def _in_specs(
    setting: Setting, in_specs: Any, args: tuple[Any, ...], whole: Sequence[Any]
) -> list[PartitionSpec | None]:
    """A spec for each leaf of the arguments; None for one that is no array."""
    if in_specs is Infer:
        for x in whole:
            _check_told(x)
        return [_spec_of(setting, x) for x in whole]
    try:
        specs = array_trees.prefix_broadcast(in_specs, args, is_leaf=lambda x: x is None)
    except ValueError as error:
        raise ValueError(f"shard_map: in_specs do not fit the arguments: {error}") from None
    for spec in specs:
        if spec is not None:
            setting.check_spec("in_specs", spec)
    return specs


def _check_told(x: Any) -> None:
    """Raise ValueError for a traced array whose type tells no layout, where it may be computed of
    arrays from outside that are divided.
    """
    if not isinstance(x, Tracer) or explicit_axes.are_in_types():
        return
    trace: Trace | None = x.home
    while trace is not None:
        for array in trace.captures:
            if isinstance(array, Array) and isinstance(sharding_of(array), NamedSharding):
                raise ValueError(
                    f"shard_map: in_specs do not follow from an array of type {x.aval}: the "
                    f"function that is traced uses one from outside of type {array.aval}, which is "
                    "on a mesh, and there is none in the context: enter it by `with "
                    "irax.set_mesh(mesh):`, or give in_specs"
                )
        trace = trace.parent


def _spec_of(setting: Setting, x: Any) -> PartitionSpec:
    """The part of an argument's sharding that tells of the axes of the mesh."""
    aval = explicit_axes.type_of(x)
    told = None if isinstance(x, ConcreteArray) else aval.told
    sharding = told or getattr(x, "sharding", None)
    entries = sharding.spec.partitions if isinstance(sharding, NamedSharding) else ()
    own = [[a for a in axes_of_entry(e) if a in setting.manual] for e in entries]
    unreduced, reduced = ({a for a in setting.manual if text_of(a) in s} for s in aval.sums)
    return PartitionSpec(*own, unreduced=unreduced, reduced=reduced)


def _out_specs(setting: Setting, out_specs: Any, skeleton: Any) -> list[PartitionSpec]:
    """A spec for each leaf of the results."""
    try:
        specs = array_trees.prefix_broadcast(out_specs, skeleton, is_leaf=lambda x: x is None)
    except ValueError as error:
        raise ValueError(f"shard_map: out_specs do not fit the result: {error}") from None
    for spec, x in zip(specs, array_trees.whole_leaves(skeleton), strict=True):
        setting.check_spec("out_specs", spec)
        if len(spec) > x.ndim:
            raise ValueError(
                f"shard_map: out_specs has {spec} for a result of {setting.function} of type "
                f"{x.aval}: expected no more entries than it has dimensions"
                + ("; give a scalar that differs between devices a dimension" * (not x.ndim))
            )
    return specs


def _check_argument(setting: Setting, name: str, aval: ShapedArray, spec: PartitionSpec) -> None:
    if len(spec) > aval.ndim:
        raise ValueError(
            f"shard_map: in_specs has {spec} for {name} of type {aval}: expected no more entries "
            "than it has dimensions"
        )
    if any(map(is_symbolic, aval.shape)):
        raise NotImplementedError(
            f"shard_map: {name} of type {aval} has symbolic sizes, and shards have none: export "
            "the function for sizes that are known"
        )
    for dimension, axes in enumerate(axes_by_dimension(spec, aval.ndim)):
        parts = setting.shards(axes)
        if aval.shape[dimension] % parts:
            raise ValueError(
                f"shard_map: {name} of type {aval} cannot be divided by {spec}: dimension "
                f"{dimension}, of size {aval.shape[dimension]}, must be a multiple of {parts}, the "
                f"size of {axes} in a mesh of {dict(setting.mesh.shape)}"
            )


def _check_agrees(setting: Setting, name: str, x: Array, spec: PartitionSpec) -> None:
    """Raise ValueError for a spec that differs from an argument's type, which tells its layout
    along Explicit axes.
    """
    is_told = isinstance(x, ConcreteArray) or explicit_axes.are_in_types()
    if not (is_told or explicit_axes.type_of(x).told) or not set(setting.manual).issubset(
        setting.mesh.explicit_axes
    ):
        return
    own = _spec_of(setting, x)
    is_divided_so = axes_by_dimension(spec, x.ndim) == axes_by_dimension(own, x.ndim)
    if not is_divided_so or spec.unreduced != own.unreduced:
        raise ValueError(
            f"shard_map: in_specs has {spec} for {name}, of type {explicit_axes.type_of(x)}, which "
            f"is divided as {own}, and the axes of the mesh are of type Explicit: move it before "
            f"by irax.reshard, or leave in_specs out"
        )


def _is_divided_so(setting: Setting, x: Array, spec: PartitionSpec) -> bool:
    """Return True for an array on the devices that is divided by a spec, and perhaps along axes
    that are not mapped.
    """
    sharding = sharding_of(x)
    if not isinstance(sharding, NamedSharding) or sharding.mesh != setting.devices:
        return False
    return axes_by_dimension(spec, x.ndim) == axes_by_dimension(_spec_of(setting, x), x.ndim)


def _check_captured(setting: Setting, x: Array) -> None:
    """Raise ValueError for an array from outside that is still to be summed."""
    if own := _spec_of(setting, x).unreduced:
        raise ValueError(
            f"shard_map: {setting.function} uses an array of type {x.aval} from outside, which is "
            f"still to be summed along {sorted(map(str, own))}: pass it as an argument, or take "
            "the sum before by irax.reshard"
        )


def _shard(setting: Setting, aval: ShapedArray, spec: PartitionSpec) -> ShapedArray:
    """The type of a shard."""
    divided = axes_by_dimension(spec, aval.ndim)
    extents = zip(aval.shape, divided, strict=True)
    vma = aval.vma
    if setting.check_vma:
        vma |= {text_of(axis) for axes in divided for axis in axes}
    shape = tuple(n // setting.shards(axes) for n, axes in extents)
    shard = aval.update(shape=shape, vma=vma, sharding=None, sums=WHOLE)
    return explicit_axes.typed(shard, aval.told, setting.inside())


def _layout(spec: PartitionSpec, shard: ShapedArray) -> PartitionSpec:
    """The division of a result whose shards may be divided along axes that are not mapped."""
    if shard.told is None:
        return spec
    own, others = (axes_by_dimension(s, shard.ndim) for s in (spec, shard.told.spec))
    return spec.update(partitions=[(*a, *b) for a, b in zip(own, others, strict=True)])


def _check_varying(setting: Setting, traced: Traced, specs: Sequence[PartitionSpec]) -> None:
    """Raise ValueError for a result that differs between devices where its spec says otherwise."""
    own = set(map(text_of, setting.manual))
    for number, (aval, spec) in enumerate(zip(traced.results, specs, strict=True)):
        divided = {text_of(a) for axes in axes_by_dimension(spec, aval.ndim) for a in axes}
        if more := sorted((aval.vma & own) - divided):
            raise ValueError(
                f"shard_map: result {number} of {setting.function}, of type {aval}, may differ "
                f"between devices along {more}, but out_specs has {spec}, which says that all have "
                "the same: name the axes in out_specs, sum or gather the result along them "
                "(irax.lax.psum), or pass check_vma=False if it is the same after all"
            )
