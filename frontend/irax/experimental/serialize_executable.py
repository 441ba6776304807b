"""Compiled functions as bytes, which another process runs without compiling anything.

    compiled = irax.jit(f).lower(x).compile()
    serialized, in_tree, out_tree = serialize(compiled)
    deserialize_and_load(serialized, in_tree, out_tree)(x)

The bytes are a file of `irax.export`: `irax run` takes it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax import dtypes, export, tree_util
from irax.core.array import Array, as_array
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.core.trees.errors import unlike_compiled
from irax.execution import backend as execution_backend
from irax.stages import Compiled
from irax.transforms.deferred_rules import with_rules
from irax_compiler import mlir
from irax_runtime import archives, exported
from irax_runtime.device import Device


@api_boundary
def serialize(compiled: Compiled) -> tuple[bytes, tree_util.PyTreeDef, tree_util.PyTreeDef]:
    """Return a compiled function as bytes, and the structures of its arguments and its result.

    Args:
        compiled: what `jit(f).lower(...).compile()` returned, for one device.

    Raises:
        TypeError: `compiled` is none.
        ValueError: the function is divided over several devices, touches Refs, or returns keys.
        UnsupportedOp: it calls Python functions, which bytes cannot hold.

    >>> compiled = irax.jit(lambda x: {"y": x + 1}).lower(1.0).compile()
    >>> f = deserialize_and_load(*serialize(compiled))
    >>> f(2.0)
    {'y': Array(3., dtype=float32, weak_type=True)}
    """
    if not isinstance(compiled, Compiled):
        raise TypeError(f"serialize: expected a compiled function, got {compiled!r}")
    if any(dtypes.issubdtype(x.dtype, dtypes.prng_key) for x in _leaves(compiled.out_info)):
        raise ValueError("serialize: the function returns keys: return irax.random.key_data(key)")
    blob = _exported(compiled).to_bytes()
    return blob, compiled.in_tree, compiled.out_tree


def _leaves(tree: Any) -> list[Any]:
    return tree_util.tree_leaves(tree)


def _exported(compiled: Compiled) -> export.Exported:
    """Return a compiled function as one of the arrays of its arguments, one after the other, for
    the platform that it was compiled for.
    """
    found = compiled._traced.traced
    if compiled._refs is not None:
        raise ValueError(f"serialize: {found.name} touches Refs, which are of this process")
    if any(len(s.device_set) != 1 for s in compiled._shardings):
        raise ValueError(
            f"serialize: {found.name} is divided over several devices: use irax.export"
        )
    module = with_rules(found.builder).module
    name = export._closed(module, found.name, found.captures)
    module = export._alone(module, name)
    inputs = export._avals(mlir.arguments(mlir.functions(module)[name]))
    structures = (
        array_trees.tree_structure(((0,) * len(inputs), {})),
        array_trees.tree_structure((0,) * len(found.results)),
    )
    platform = execution_backend.resolve_device(compiled._device).platform
    return export.Exported(module, name, (inputs, found.results), structures, (platform,))


def _weak_results(blob: bytes) -> list[bool]:
    """Return True for each result that is weakly typed."""
    manifest = exported.read_manifest(archives.read(blob, "deserialize"), "deserialize")
    return [leaf["weak"] for leaf in manifest["results"]["leaves"]]


@api_boundary
def deserialize_and_load(
    serialized: bytes,
    in_tree: tree_util.PyTreeDef,
    out_tree: tree_util.PyTreeDef,
    backend: str | None = None,
    execution_devices: Sequence[Device] | None = None,
) -> LoadedExecutable:
    """Return the function that `serialize` was given.

    Args:
        serialized: the bytes.
        in_tree: the structure of the arguments, `(args, kwargs)`.
        out_tree: the structure of the result.
        backend: the platform to run it on.
        execution_devices: the device to run it on, in a tuple.

    Raises:
        ValueError: the bytes are damaged, or have no program for the device.
    """
    if execution_devices is not None and len(execution_devices) != 1:
        raise ValueError(f"deserialize_and_load: expected one device, got {len(execution_devices)}")
    device = execution_devices[0] if execution_devices else _device(backend)
    return LoadedExecutable(exported.load(serialized, device), in_tree, out_tree, serialized)


def _device(platform: str | None) -> Device:
    return execution_backend.devices(platform)[0]


class LoadedExecutable:
    """A compiled function that was loaded."""

    def __init__(
        self, program: exported.Program, in_tree: Any, out_tree: Any, serialized: bytes
    ) -> None:
        self._program = program
        self._weak = _weak_results(serialized)
        self.in_tree: tree_util.PyTreeDef = in_tree
        """The structure of `(args, kwargs)`."""
        self.out_tree: tree_util.PyTreeDef = out_tree
        """The structure of its result."""

    def __repr__(self) -> str:
        return f"<LoadedExecutable {self._program.name}>"

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function.

        Raises:
            TypeError: arguments of another structure, or an array of another dtype.
            ValueError: an array of another shape.
        """
        if tree_util.tree_structure((args, kwargs)) != self.in_tree:
            raise unlike_compiled(self._program.name, self.in_tree.spec, (args, kwargs))
        leaves = array_trees.tree_leaves((args, kwargs))
        arrays = map(as_array, self._program.flat(leaves))
        results: list[Array] = [
            x.with_weak_type(True) if weak else x
            for x, weak in zip(arrays, self._weak, strict=True)
        ]
        return tree_util.tree_unflatten(self.out_tree, results)

    call = __call__
