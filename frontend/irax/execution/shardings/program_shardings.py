"""The shardings of arguments and results of programs that are compiled ahead of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax.core.array import Array, ConcreteArray
from irax.core.avals import ShapeDtypeStruct
from irax.core.shardings.sharded import (
    device_of_sharding,
    placed,
    sharding_of,
    sharding_on,
    spec_of,
)
from irax.core.shardings.shardings import NamedSharding, Sharding
from irax.execution.program import Program
from irax_compiler import api, mlir
from irax_runtime.mesh import MeshDevice, MeshExecutable, Spec


def told_by(leaf: Any) -> Sharding | None:
    """Return where an argument is: an array that was put on devices, or a struct with a sharding;
    None for others.
    """
    if isinstance(leaf, ShapeDtypeStruct):
        return leaf.sharding
    return sharding_of(leaf) if isinstance(leaf, ConcreteArray) and leaf.committed else None


def device_of_structs(leaves: Sequence[Any], what: str) -> Any:
    """Return the device that the shardings of `ShapeDtypeStruct`s name; None if there are none.

    Raises:
        ValueError: they name several; `what` is the function's name in the message.
    """
    told = [x.sharding for x in leaves if isinstance(x, ShapeDtypeStruct) and x.sharding]
    found = {device_of_sharding(sharding) for sharding in told} - {None}
    if len(found) > 1:
        raise ValueError(
            f"{what}: received incompatible devices: arguments have the shardings "
            f"{', '.join(map(repr, dict.fromkeys(told)))}"
        )
    return next(iter(found), None)


def of_arguments(program: Program, device: Any, told: Sequence[Sharding | None]) -> list[Sharding]:
    """Return the shardings of the leaves of the arguments: as they are `told`, or whole on each
    device.
    """
    whole = [sharding_on(device, ((),) * aval.ndim) for aval in program.argument_avals()]
    pairs = zip(told, whole, strict=True)
    if isinstance(device, MeshDevice):
        return [own or other for own, other in pairs]
    return [other.with_memory_kind(own.memory_kind) if own else other for own, other in pairs]


def of_results(program: Program, device: Any, arguments: Sequence[Sharding]) -> list[Sharding]:
    """Return the shardings of the leaves of the results, for arguments with these shardings."""
    kinds = [aval.memory_kind for aval in program.traced.results]
    compiled = program.compile(device)
    executable: Any = compiled.executable
    if not isinstance(executable, MeshExecutable):
        return [sharding_on(executable.device, ()).with_memory_kind(kind) for kind in kinds]
    avals = program.argument_avals()
    given = [_layout(x, aval.ndim) for x, aval in zip(arguments, avals, strict=True)]
    captured: list[Any] = [buffer.spec for buffer in compiled.captured]  # pyright: ignore
    specs = executable.layouts_of_results([*given, *captured])
    pairs = zip(specs[: len(kinds)], kinds, strict=True)
    return [sharding_on(executable.device, spec).with_memory_kind(kind) for spec, kind in pairs]


def divided(
    program: Program, device: Any, arguments: Sequence[Sharding]
) -> tuple[mlir.Module, list[Sharding]]:
    """Return the module of a program that is divided for the devices of a mesh, and the shardings
    of its results; of a program for one device, the module itself.
    """
    module, name = program.traced.builder.module, program.traced.name
    kinds = [aval.memory_kind for aval in program.traced.results]
    if not isinstance(device, MeshDevice):
        return module, [sharding_on(device, ()).with_memory_kind(kind) for kind in kinds]
    parameters = mlir.arguments(mlir.functions(module)[name])
    layouts = [
        _layout(x, len(mlir.shape_of(p))) for x, p in zip(arguments, parameters, strict=False)
    ]
    layouts += [((),) * len(mlir.shape_of(p)) for p in parameters[len(layouts) :]]
    count = len(mlir.result_types(mlir.functions(module)[name]))
    parted = api.partition(module, name, device.axes, layouts, [None] * count, device.target)
    specs = api.layouts_of_results(parted, name)
    pairs = zip(specs[: len(kinds)], kinds, strict=True)
    return parted, [sharding_on(device, spec).with_memory_kind(kind) for spec, kind in pairs]


def _layout(sharding: Sharding, rank: int) -> Spec:
    return spec_of(sharding, rank) if isinstance(sharding, NamedSharding) else ((),) * rank


def placed_as_told(x: Array, sharding: Sharding | None) -> Array:
    """Return an argument that was put nowhere where the program expects it."""
    if isinstance(x, ConcreteArray) and not x.committed and isinstance(sharding, NamedSharding):
        return placed(x, sharding)
    return x


def check_places(
    what: str, names: Sequence[str], arrays: Sequence[Array], shardings: Sequence[Sharding]
) -> None:
    """Raise ValueError for arguments that were put elsewhere than a program expects them."""
    for name, x, expected in zip(names, arrays, shardings, strict=True):
        own = sharding_of(x) if isinstance(x, ConcreteArray) and x.committed else None
        if own is not None and not own.is_equivalent_to(expected, x.ndim):
            raise ValueError(
                f"{what}: {name} is {x.aval} with the sharding {own!r}; compiled for {expected!r}: "
                "move it with irax.device_put"
            )
