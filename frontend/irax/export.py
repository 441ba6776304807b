"""Functions in files: traced once, to be run elsewhere and later.

exported = export(jit(f))(x)            f for arguments like x, as StableHLO
exported.save("f.irax")                 with its compiled programs: irax_runtime.load runs it
again = deserialize(exported.serialize())
again.call(x)                           runs, and can be jitted, differentiated and mapped
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import FunctionType as _FunctionType
from typing import IO, Any

import numpy as np

from irax import numpy, tree_util
from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.array import Array, ConcreteArray, device_of
from irax.core.avals import ShapedArray
from irax.core.copies import OfThisProcess
from irax.core.shardings.meshes import AbstractMesh, Mesh
from irax.core.shardings.shardings import Sharding
from irax.core.trees import array_trees
from irax.core.trees.flattening import argument_names
from irax.execution import backend, export_shardings, jax_programs
from irax.execution.export_trees import describe, make, parts
from irax.execution.export_trees import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from irax.execution.export_trees import (
    register_pytree_node_serialization as register_pytree_node_serialization,
)
from irax.execution.jit import jit
from irax.execution.jitted import PjitFunction
from irax.execution.symbolic_shapes import is_symbolic_dim as is_symbolic_dim
from irax.execution.symbolic_shapes import symbolic_args_specs as symbolic_args_specs
from irax.execution.symbolic_shapes import symbolic_dim_bounds as symbolic_dim_bounds
from irax.execution.symbolic_shapes import symbolic_shape as symbolic_shape
from irax.ir import LoadedFunction, as_argument
from irax.transforms import autodiff
from irax.transforms.deferred_rules import with_rules
from irax_compiler import api, containers, mlir, targets
from irax_compiler.ops.callback import is_callback
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.shape import Constant
from irax_compiler.sizes import SymbolicScope as SymbolicScope
from irax_compiler.sizes import variables
from irax_compiler.sizes.solving import constraints, variables_of_constraints
from irax_runtime import archives, files, trees
from irax_runtime import exported as format_
from irax_runtime.archives import WEIGHTS, Bytes

_OWN = ("irax", "jax")
"""The packages that irax's own functions say that they are of."""


def default_export_platform() -> str:
    """Return the platform that functions are exported for by default.

    >>> default_export_platform()
    'cpu'
    """
    return backend.default_backend()


def export(
    fun_jit: Callable[..., Any],
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[Any] = (),
    blas: bool = True,
) -> Callable[..., Exported]:
    """Makes a jitted function an `Exported`, for arguments of certain shapes and dtypes.

    Args:
        fun_jit: what `jit` returned, or a function of irax's own, such as `irax.numpy.sin`.
        platforms: where it is to run: "cpu", "vulkan", "cuda", "hip" ("rocm"), "metal", "tpu" or
            "pjrt", each with a chip after a colon if need be ("cuda:sm_89"). "cpu" is a processor
            like this one, "cpu:generic" any of its kind. The default is the platform here.
        disabled_checks: accepted for JAX's sake, without effect.
        blas: False for programs that multiply matrices by code of their own, and run without the
            package scipy-openblas64.

    Returns:
        A function of arguments, or of `ShapeDtypeStruct`s in place of arrays.

    Raises:
        ValueError: `fun_jit` is not a jitted function, or there is no such platform or chip. On a
            call: a constraint names a symbolic dimension that no argument has.
        UnsupportedOp: on a call: the function calls Python functions, which no file can hold.

    >>> export(jit(jnp.sin))(irax.ShapeDtypeStruct((4,), "float32")).out_avals
    (float32[4],)
    """
    if isinstance(fun_jit, _FunctionType) and fun_jit.__module__.split(".")[0] in _OWN:
        fun_jit = jit(fun_jit)
    if not isinstance(fun_jit, PjitFunction):
        raise ValueError(f"export: expected a jitted function, got {fun_jit!r}: export(jit(f))")
    names = (default_export_platform(),) if platforms is None else tuple(platforms)
    for name in names:
        _target(name)

    def traced(*args: Any, **kwargs: Any) -> Exported:
        lowered = fun_jit.lower(*args, **kwargs)
        found = lowered._traced.traced
        module = with_rules(found.builder).module
        name = _closed(module, found.name, found.captures)
        module = _alone(module, name)
        export_shardings.state(module, name, fun_jit, args, kwargs)
        in_avals = _avals(mlir.arguments(mlir.functions(module)[name]))
        _check_constraints(name, in_avals)
        in_avals = export_shardings.typed(in_avals, fun_jit, args, kwargs)
        structures = lowered._in_tree, lowered._traced.out_tree
        return Exported(module, name, (in_avals, found.results), structures, names, blas)

    return traced


def _alone(module: mlir.Module, name: str) -> mlir.Module:
    """Return a module of a function and the functions that it calls, none of them in Python."""
    alone = mlir.new_module()
    mlir.copy_functions(module, name, alone)
    mlir.make_public(mlir.functions(alone)[name])
    api.check(alone, name)
    for operation in api.nested(alone.operation):
        if is_callback(operation):
            raise UnsupportedOp(
                f"export: {name} calls a Python function at {operation.location}: no file can hold "
                "it; export the function without the callback"
            )
    return alone


def _closed(module: mlir.Module, name: str, captures: Sequence[Array]) -> str:
    """Make constants of the function's captured arrays, which were arguments; return its name."""
    if not captures:
        return name
    function = mlir.functions(module)[name]
    block = mlir.body(function)
    own = len(block.arguments) - len(captures)
    with mlir.InsertionPoint.at_block_begin(block), function.location:
        for array in captures:
            if not isinstance(array, ConcreteArray):
                raise TypeError(f"export: {name} uses a traced array of type {array.aval}")
            block.arguments[own].replace_all_uses_with(Constant(array.value)())
            block.erase_argument(own)
    mlir.set_function_type(function)
    return name


class Exported(OfThisProcess):
    """A function as StableHLO, for arguments of certain shapes, which may have symbolic dimensions,
    and dtypes.
    """

    pickle_instead = "what its method serialize returns, which irax.export.deserialize takes"

    def __init__(
        self,
        module: mlir.Module,
        fun_name: str,
        avals: tuple[Sequence[ShapedArray], Sequence[ShapedArray]],
        structures: tuple[Any, Any],
        platforms: Sequence[str],
        blas: bool = True,
    ) -> None:
        self._module = module
        self._blas = blas
        self._function = LoadedFunction(module, fun_name, None)
        self.fun_name: str = fun_name
        self.in_avals: tuple[ShapedArray, ...] = tuple(avals[0])
        """The shapes and dtypes of its flat arguments."""
        self.out_avals: tuple[ShapedArray, ...] = tuple(avals[1])
        """The shapes and dtypes of its flat results."""
        self._in_tree, self._out_tree = structures
        self._layouts = api.layouts_of(module, fun_name)
        self.platforms: tuple[str, ...] = tuple(platforms)
        """The platforms that it may run on."""

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, x)) for x in (self.in_avals, self.out_avals))
        return f"<Exported {self.fun_name}: ({inputs}) -> ({outputs})>"

    @property
    def in_tree(self) -> tree_util.PyTreeDef:
        """The structure of `(args, kwargs)`."""
        return tree_util.tree_structure(array_trees.tree_unflatten(self._in_tree, self.in_avals))

    @property
    def out_tree(self) -> tree_util.PyTreeDef:
        """The structure of its result."""
        return tree_util.tree_structure(array_trees.tree_unflatten(self._out_tree, self.out_avals))

    ordered_effects: tuple[Any, ...] = ()
    """Side effects in order: none, as no file can hold a callback."""
    unordered_effects: tuple[Any, ...] = ()
    """Side effects in any order: none."""
    disabled_safety_checks: tuple[Any, ...] = ()
    """Checks that are turned off: none."""

    @property
    def module_kept_var_idx(self) -> tuple[int, ...]:
        """The numbers of the flat arguments that the module takes: all."""
        return tuple(range(len(self.in_avals)))

    @property
    def uses_global_constants(self) -> bool:
        """True if a dimension of an argument is symbolic."""
        return any(map(is_symbolic_dim, (n for aval in self.in_avals for n in aval.shape)))

    @property
    def nr_devices(self) -> int:
        """The number of devices that it is for.

        >>> export(jit(jnp.sin))(1.0).nr_devices
        1
        """
        return 1 if self._layouts is None else math.prod(self._layouts.mesh.values())

    def in_shardings_jax(self, mesh: Mesh | AbstractMesh) -> tuple[Sharding | None, ...]:
        """Return the shardings of its flat arguments on a mesh; None where it has none.

        Raises:
            ValueError: the mesh has other axes than that of the function.
        """
        return self._shardings(mesh, self.in_avals, "in_specs")

    def out_shardings_jax(self, mesh: Mesh | AbstractMesh) -> tuple[Sharding | None, ...]:
        """Return the shardings of its flat results on a mesh; None where it has none.

        Raises:
            ValueError: the mesh has other axes than that of the function.
        """
        return self._shardings(mesh, self.out_avals, "out_specs")

    def _shardings(
        self, mesh: Mesh | AbstractMesh, avals: Sequence[ShapedArray], side: str
    ) -> tuple[Sharding | None, ...]:
        if self._layouts is None:
            return (None,) * len(avals)
        specs = getattr(self._layouts, side)
        return export_shardings.shardings(mesh, specs, self.fun_name, self._layouts.mesh)

    def mlir_module(self, serialized: bool = True) -> Any:
        """The text of the module; with `serialized` False, a copy of it as an object of MLIR's
        bindings.
        """
        if serialized:
            return mlir.text_of(self._module.operation)
        return mlir.parse_module(self.mlir_module_serialized)

    @property
    def mlir_module_serialized(self) -> bytes:
        """The module as MLIR bytecode."""
        return mlir.bytecode(self._module)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; inside `jit`, `grad` and `vmap`, the call is traced.

        Raises:
            TypeError: arguments that are not arrays.
            ValueError: they have another structure, shape or dtype, or the function is to run on
                a platform that it was not exported for, or on another number of devices.

        >>> export(jit(lambda x: x * x))(3.0).call(4.0)
        Array(16., dtype=float32, weak_type=True)
        """
        leaves = self._leaves(args, kwargs)
        names = argument_names(*array_trees.tree_unflatten(self._in_tree, leaves))
        arrays = []
        for leaf, aval, name in zip(leaves, self.in_avals, names, strict=True):
            array = as_argument(leaf, aval, f"{self.fun_name}: {name}")
            fits = array.shape == aval.shape or self._function.is_sized
            if array.dtype != aval.dtype or len(array.shape) != len(aval.shape) or not fits:
                raise ValueError(f"{self.fun_name}: {name} is {array.aval}; exported for {aval}")
            arrays.append(array)
        self._check_platform(arrays)
        if self._layouts is not None:
            arrays = export_shardings.divided(arrays, self._layouts, self.fun_name)
        function = self._function.for_sizes_of(arrays, names, self.fun_name)
        results = function.flat(arrays, [aval.weak_type for aval in self.out_avals])
        return array_trees.tree_unflatten(self._out_tree, results)

    def _leaves(self, args: Any, kwargs: Any) -> list[Any]:
        leaves, tree = array_trees.tree_flatten((args, kwargs))
        if tree == self._in_tree:
            return leaves
        # A named tuple of another class fits; for any other difference, this raises.
        spec = describe(self._in_tree)
        try:
            return trees.flatten(spec, (args, kwargs), ("args", "kwargs"), self.fun_name, parts)
        except TypeError as error:
            raise ValueError(*error.args) from None

    def _check_platform(self, arrays: Sequence[Array]) -> None:
        there = device_of(arrays, self.fun_name)
        if there is None:
            return
        if there.target.partition(":")[0] not in map(_family, self.platforms):
            raise ValueError(
                f"{self.fun_name} was exported for {', '.join(self.platforms)}; its arguments are "
                f"on {there!r}: export it for that platform, too"
            )

    def has_vjp(self) -> bool:
        """True: derivatives are passes over the module, of every order."""
        return True

    def vjp(self) -> Exported:
        """Its reverse-mode derivative: of the arrays of the arguments and then a cotangent for each
        of the results, one after the other, to a tuple with a cotangent for each argument. For
        integers cotangents are zeros, and those given do not matter.

        >>> export(jit(lambda x: x * x))(3.0).vjp().call(3.0, 1.0)
        (Array(6., dtype=float32),)
        """
        count = len(self.in_avals)
        active = [i for i, a in enumerate(self.in_avals) if mlir.inexact(a.dtype)]
        wanted = [i for i, a in enumerate(self.out_avals) if mlir.inexact(a.dtype)]

        def pulled_back(*arrays: Any) -> tuple[Any, ...]:
            primals, cotangents = arrays[:count], arrays[count:]

            def smooth(*chosen: Any) -> list[Array]:
                full: list[Any] = list(primals)
                for i, x in zip(active, chosen, strict=True):
                    full[i] = x
                results = self._function.for_sizes_of(full).flat(full)
                return [results[i] for i in wanted]

            _, pullback = autodiff.vjp(smooth, *(primals[i] for i in active))
            found = dict(zip(active, pullback([cotangents[i] for i in wanted]), strict=True))
            return tuple(found.get(i, numpy.zeros_like(x)) for i, x in enumerate(primals))

        pulled_back.__name__ = f"{self.fun_name}_vjp"
        structs = export_shardings.structs((*self.in_avals, *self.out_avals))
        return export(jit(pulled_back), platforms=self.platforms, blas=self._blas)(*structs)

    def serialize(self, vjp_order: int = 0) -> bytes:
        """Return the function as bytes, which `deserialize` reads; without compiled programs.

        Args:
            vjp_order: accepted for JAX's sake: deserialized functions have derivatives of every
                order.

        Raises:
            TypeError: an argument or result has a class of pytrees in it that was not registered
                with `register_pytree_node_serialization`.

        >>> deserialize(export(jit(jnp.sin))(0.5).serialize()).call(0.5)
        Array(0.47942555, dtype=float32, weak_type=True)
        """
        return format_.write(self._contents({}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file with the function and a compiled program for each platform, and prints what
        it needs to run, to the standard error. `irax_runtime.load` runs it, without irax or a
        compiler; `load` and `irax run` do, too.

        Raises:
            TypeError: as in `serialize`.
            RuntimeError: a compiler refuses the function.
            OSError: the file cannot be written.
        """
        files.write_by(path, self.write_to)
        print(f"{os.fspath(path)}: {format_.needs(path)}", file=sys.stderr)

    def to_bytes(self) -> bytes:
        """Return the file's contents: the function and its compiled programs."""
        return format_.write(self._compiled())

    def write_to(self, file: IO[bytes]) -> None:
        """Write the file's contents to the beginning of an open one.

        Args:
            file: a file that is open for writing bytes.
        """
        format_.write_to(file, self._compiled())

    def _compiled(self) -> dict[str, Bytes]:
        """The files of the function and of its compiled programs, which take its weights."""
        with nullcontext() if self._blas else api.without_blas():
            return self._with_programs()

    def _with_programs(self) -> dict[str, Bytes]:
        programs, contents = {}, {}
        apart, _ = self._function.apart
        for platform in self.platforms:
            target = _target(platform)
            kind, chip = targets.find(target), target.partition(":")[2]
            about: dict[str, Any] = {"file": f"{_family(platform)}{kind.extension}"}
            if kind.is_of_this_processor(chip):
                about["processor"] = format_.processor_features()
            programs[_family(platform)] = about
            lowered = api.lower(apart.module, self.fun_name, target)
            contents[about["file"]] = targets.compile(lowered, target)
        return self._contents(programs) | contents

    def _contents(self, programs: dict[str, Any]) -> dict[str, Bytes]:
        apart, weights = self._function.apart
        module = apart.module
        function = mlir.functions(self._module)[self.fun_name]
        names = argument_names(*array_trees.tree_unflatten(self._in_tree, self.in_avals))
        outs = array_trees.tree_leaves_with_path(
            array_trees.tree_unflatten(self._out_tree, self.out_avals)
        )
        arguments = mlir.arguments(function)
        results = list(mlir.terminator(mlir.body(function)).operands)
        manifest = {
            "irax": format_.VERSION,
            "name": self.fun_name,
            "platforms": self.platforms,
            "arguments": _side(self._in_tree, arguments, self.in_avals, names),
            "results": _side(
                self._out_tree,
                results,
                self.out_avals,
                [f"result{array_trees.keystr(path)}" for path, _ in outs],
            ),
            "programs": programs,
            "constraints": _constraints(self.in_avals),
        }
        if weights:
            taken = mlir.arguments(mlir.functions(module)[self.fun_name])[-len(weights) :]
            manifest["weights"] = [api.signature([value]) for value in taken]
        return {
            format_.MANIFEST: json.dumps(manifest, indent=1).encode(),
            format_.MODULE: mlir.generic_text(module).encode(),
            **{f"{WEIGHTS}{i}": _bytes_of(x) for i, x in enumerate(weights)},
        }


def _bytes_of(array: np.ndarray[Any, Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def deserialize(blob: bytes | bytearray) -> Exported:
    """The function that `Exported.serialize` or `Exported.save` wrote, or `jax.export`, of whose
    functions for several platforms the part for the processor is read.

    Args:
        blob: the bytes.

    Raises:
        ValueError: it is none, or damaged.
        TypeError: it has classes in it that are not registered here.

    >>> exported = irax.export.export(irax.jit(irax.numpy.sin))(1.0)
    >>> irax.export.deserialize(exported.serialize()).call(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    if not zipfile.is_zipfile(io.BytesIO(blob)) and containers.MAGIC in blob:
        return _of_jax(bytes(blob))
    return _of_contents(archives.read(bytes(blob), "deserialize"), "deserialize")


def _of_jax(blob: bytes) -> Exported:
    """A function of `jax.export`. Arguments that it does not use are no arguments of the file's
    module.
    """
    found = containers.export_in(blob)
    if found is None:
        return of_module(api.read_data(blob))
    module = api.read_data(blob)
    name = jax_programs.with_all_arguments(module, containers.main_function(module), found)
    called = LoadedFunction(module, name, None)
    structures = (
        jax_programs.structure(found.in_tree, len(called.inputs)),
        jax_programs.structure(found.out_tree, len(called.outputs)),
    )
    return Exported(module, name, (called.inputs, called.outputs), structures, found.platforms)


def of_module(
    module: mlir.Module, func: str | None = None, platforms: Sequence[str] | None = None
) -> Exported:
    """A function of a module, by default the main one, which takes and returns arrays.

    Args:
        module: a module of MLIR, or its text.
        func: the name of the function; by default the main one.
        platforms: the platforms that it may run on.
    """
    called = LoadedFunction(module, func or containers.main_function(module), None)
    inputs = array_trees.tree_structure(((0,) * len(called.inputs), {}))
    outputs = array_trees.tree_structure((0,) * len(called.outputs))
    avals = called.inputs, called.outputs
    names = (default_export_platform(),) if platforms is None else platforms
    return Exported(module, called.__name__, avals, (inputs, outputs), names)


def load(path: str | os.PathLike[str]) -> Exported:
    """Load the function in a file of `Exported.save`.

    Args:
        path: the name of the file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no such file, or damaged.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "sine.irax")
    >>> irax.export.export(irax.jit(irax.numpy.sin))(1.0).save(path)
    >>> irax.export.load(path).call(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    contents = archives.read_file(path)
    if contents is None:
        raise ValueError(f"{path}: not an exported function: it is no archive")
    return _of_contents(contents, str(path))


def _of_contents(contents: dict[str, Bytes], name: str) -> Exported:
    if format_.MANIFEST not in contents or format_.MODULE not in contents:
        raise ValueError(f"{name}: not an exported function, but a compiled module")
    manifest = format_.read_manifest(contents, name)
    try:
        module = mlir.parse_module(bytes(contents[format_.MODULE]).decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: {format_.MODULE} is damaged: {error}; save it anew") from None
    function = mlir.functions(module).get(manifest["name"])
    if function is None:
        raise ValueError(
            f"{name}: damaged: its module has no function {manifest['name']!r}; save it anew"
        )
    weights = [contents[f"{WEIGHTS}{i}"] for i, _ in enumerate(manifest.get("weights", []))]
    try:
        api.put_weights_back(module, manifest["name"], weights)
    except ValueError as error:
        raise ValueError(f"{name}: damaged: {error}; save it anew") from None
    arguments, results = manifest["arguments"], manifest["results"]
    returned = list(mlir.terminator(mlir.body(function)).operands)
    avals = (_weakened(mlir.arguments(function), arguments), _weakened(returned, results))
    structures = (_structure(arguments), _structure(results))
    return Exported(module, manifest["name"], avals, structures, manifest["platforms"])


def _structure(side: dict[str, Any]) -> Any:
    return array_trees.tree_structure(trees.build(side["tree"], [0] * len(side["leaves"]), make))


def _weakened(values: Sequence[mlir.Value], side: dict[str, Any]) -> list[ShapedArray]:
    weak = [leaf["weak"] for leaf in side["leaves"]]
    return [a.update(weak_type=w) for a, w in zip(_avals(values), weak, strict=True)]


def _side(
    tree: Any, values: Sequence[mlir.Value], avals: Sequence[ShapedArray], names: Sequence[str]
) -> dict[str, Any]:
    leaves = [
        {"name": name, "type": api.signature([value]), "weak": aval.weak_type}
        for value, aval, name in zip(values, avals, names, strict=True)
    ]
    return {"tree": describe(tree), "leaves": leaves}


def _constraints(avals: Sequence[ShapedArray]) -> list[str]:
    """The constraints on the symbolic dimensions of arguments."""
    sizes = _symbolic_sizes(avals)
    return constraints(sizes[0].scope) if sizes else []


def _symbolic_sizes(avals: Sequence[ShapedArray]) -> list[Any]:
    return [n for aval in avals for n in aval.shape if is_symbolic_dim(n)]


def _check_constraints(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise ValueError if a constraint could not be checked at a call."""
    sizes = _symbolic_sizes(avals)
    there = variables(sizes)
    wanted = [] if not sizes else variables_of_constraints(sizes[0].scope)
    if missing := [v for v in wanted if v not in there]:
        raise ValueError(
            f"export: the constraints {sizes[0].scope} name {', '.join(missing)}, which is in no "
            f"shape of an argument of {name}; there are {', '.join(there)}"
        )


def _avals(values: Sequence[mlir.Value]) -> list[ShapedArray]:
    return [ShapedArray(mlir.shape_of(v), mlir.dtype_of(v)) for v in values]


# ---- platforms -----------------------------------------------------------------------------------


def _target(platform: str) -> str:
    """The compiler's target for a platform. Raises ValueError where there is none."""
    try:
        return targets.for_platform(platform.replace("rocm", "hip"))
    except ValueError as error:
        raise ValueError(f"export: {error}") from None


def _family(platform: str) -> str:
    return _target(platform).partition(":")[0]


__getattr__: _GetAttr = _refuse_names(__name__)
