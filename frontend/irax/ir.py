"""Modules as values: the module of a call, and functions from StableHLO files.

print(make_ir(f)(x))            the module that jit(f)(x) would compile
f = load("model.mlir")          a function that runs, and that jit, grad and vmap take
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irax import dtypes, errors, tree_util
from irax.config import config
from irax.core.array import Array, ConcreteArray, as_array, device_of
from irax.core.avals import ShapedArray
from irax.core.copies import OfThisProcess
from irax.core.dispatch import call, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.core.trees.flattening import name_of
from irax.core.wrapping import wraps
from irax.execution import backend
from irax.execution.jitted import PjitFunction
from irax.transforms.deferred_rules import with_rules
from irax_compiler import api, containers, mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_runtime.device import Device, Executable

__all__ = ["IR", "LoadedFunction", "load", "make_ir", "register_viewer", "show"]

_viewers: list[Callable[[IR], str | None]] = []
_pages: list[Callable[[IR], str]] = []


def register_viewer(
    view: Callable[[IR], str | None], page: Callable[[IR], str] | None = None
) -> None:
    """Have notebooks show modules by a function that returns HTML, or None for the module's text.

    Packages declare a module that calls this as an entry point of the group `irax.viewers`, as
    irax's own tools do.

    Args:
        view: a function from a module to HTML, or to None.
        page: a function from a module to a whole page of HTML, which `IR.save` writes.
    """
    _viewers.append(view)
    if page is not None:
        _pages.append(page)


class IR(OfThisProcess):
    """A module. `print(ir)` shows its text; passes give new ones."""

    pickle_instead = "its text, `str(ir)`"

    def __init__(self, module: mlir.Module, func: str = "main", kept: Any = None) -> None:
        self.module = module
        self.func = func
        self._kept = kept  # has the functions that the module calls back
        self.gradient_of: Callable[[], tuple[IR, list[int]]] | None = None
        """For the module of `grad(f)`: that of `f`, and the leaves that the gradient is of."""

    def __str__(self) -> str:
        return str(self.module)

    __repr__ = __str__  # as an interactive session shows it

    def _repr_html_(self) -> str | None:
        """As a notebook shows it: the page of the registered viewer; None where there is none."""
        api.load_extensions("irax.viewers")
        return _viewers[-1](self) if _viewers else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page of the module, with all stages of its compilation, to a file of HTML.

        Args:
            path: the file.

        Raises:
            RuntimeError: irax's tools are not installed, and no other viewer of modules is.

        >>> import tempfile
        >>> irax.show(jnp.sin, 1.0).save(f"{tempfile.mkdtemp()}/sin.html")
        """
        api.load_extensions("irax.viewers")
        if not _pages:
            raise RuntimeError("IR.save: no installed package has a viewer of modules")
        Path(path).write_text(_pages[-1](self), "utf-8")

    def as_text(self, locations: bool = False) -> str:
        """The module's text, with source locations if asked for."""
        return mlir.text_of(self.module.operation, locations)

    def run(self, pipeline: str) -> IR:
        """Run a pipeline, such as `vjp{func=main wrt=0},cse`, and return the resulting module.

        Raises:
            irax_compiler.passes.PassError: an unknown pass or option, or one that does not apply.
        """
        copy = mlir.clone_module(self.module)
        api.run_pipeline(copy, pipeline)
        return IR(copy, self.func, self._kept)


def make_ir(
    fun: Callable[..., Any],
    static_argnums: int | tuple[int, ...] | None = None,
    static_argnames: Any = None,
) -> Callable[..., IR]:
    """Return a function that traces `fun` as `jit` would and returns the module.

    Arguments may be arrays or `ShapeDtypeStruct`s.

    Args:
        fun: a function of arrays.
        static_argnums: the positions of arguments that are Python values, not arrays.
        static_argnames: the names of such arguments.

    Raises:
        TypeError: `fun` is not a function.
        ValueError: `static_argnums` or `static_argnames` are not arguments of `fun`.

    >>> print(make_ir(lambda x: x + x)(1.0).func)
    lambda
    """
    from irax.execution.jit import jit

    jitted: Any = jit(fun, static_argnums=static_argnums, static_argnames=static_argnames)
    if isinstance(fun, PjitFunction):
        jitted = fun

    @api_boundary
    @wraps(fun)
    def traced(*args: Any, **kwargs: Any) -> IR:
        compiled, *_ = jitted.traced_for(args, kwargs)
        builder = with_rules(compiled.traced.builder)
        mlir.make_public(mlir.functions(builder.module)[compiled.traced.name])
        ir = IR(builder.module, compiled.traced.name, builder)
        of = getattr(getattr(fun, "_fun", fun), "_gradient_of", None)
        if of is not None and not kwargs:
            ir.gradient_of = functools.partial(_before_gradient, *of, args)
        return ir

    return traced


def _before_gradient(
    fun: Callable[..., Any], argnums: int | Sequence[int], args: tuple[Any, ...]
) -> tuple[IR, list[int]]:
    """The module of a function whose gradient was taken, and the leaves that it is taken of."""
    wanted = {i % len(args) for i in ([argnums] if isinstance(argnums, int) else argnums)}
    owners = [i for i, x in enumerate(args) for _ in tree_util.tree_leaves(x)]
    return make_ir(fun)(*args), [leaf for leaf, i in enumerate(owners) if i in wanted]


@api_boundary
def show(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> IR:
    """Return the module of a call, as `make_ir(fun)(*args, **kwargs)` does. A notebook shows it as
    a page: the module after each pass, beside the lines that operations come from, with what they
    cost. That of `grad(f)` begins with `f`. Its `save` writes the page to a file.

    Args:
        fun: a function of arrays.
        args: arguments of it: arrays or `ShapeDtypeStruct`s.
        kwargs: further arguments.

    Raises:
        TypeError: `fun` is not a function.

    >>> irax.show(jnp.sin, 1.0).func
    'sin'
    """
    return make_ir(fun)(*args, **kwargs)


@api_boundary
def load(
    text_or_path: str | bytes | os.PathLike[str],
    func: str | None = None,
    device: Device | str | None = None,
) -> LoadedFunction:
    """Load a function of a StableHLO module as a Python function of arrays.

    Where sizes are elements of arguments, as in a module that begins with `dynamic_iota` of one, it
    is compiled for each of their values, which must be known in traces.

    It runs compiled, or in the reference evaluator with `device="reference"`; inside `jit`, `grad`
    and `vmap` it is a call of the module's function like any traced one.

    Args:
        text_or_path: MLIR text or bytecode, or the path of a file with either: as JAX, PyTorch/XLA
            and TensorFlow export them, as `jax.export` and `irax.export` write them, or as a pass
            left them (`irax compile --save-stages`), edited or not.
        func: which function of the module. By default it is main, or the only public one.
        device: one of `irax.devices()`, a platform such as "cpu", or "reference". None is the
            device that arguments were put on, or else the default device.

    Raises:
        ValueError: not a valid module, or no such function in it.
        RuntimeError: there is no such platform here.
        FileNotFoundError: no such file.

    >>> double = load(
    ...     "func.func @main(%x: tensor<f32>) -> tensor<f32> {"
    ...     " %y = stablehlo.add %x, %x : tensor<f32> return %y : tensor<f32> }"
    ... )
    >>> double(2.0)
    Array(4., dtype=float32)
    """
    if device is not None and device != "reference":
        device = backend.resolve_device(device)
    module = _module(text_or_path)
    return LoadedFunction(module, func or containers.main_function(module), device)


def _module(text_or_path: str | bytes | os.PathLike[str]) -> mlir.Module:
    """Return the module of text, bytecode, or a file."""
    if isinstance(text_or_path, bytes):
        return api.read_data(text_or_path, by_value=True)
    if isinstance(text_or_path, str) and ("\n" in text_or_path or "{" in text_or_path):
        return api.parse(text_or_path, by_value=True)
    path = Path(text_or_path)
    try:
        return api.read_data(path.read_bytes(), str(path), by_value=True)
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path}: {error}") from None


class LoadedFunction(OfThisProcess):
    """A function of a StableHLO module, called with arrays, returning one or a tuple of them."""

    pickle_instead = "the file that it was loaded from"

    def __init__(self, module: mlir.Module, func: str, device: Device | str | None) -> None:
        found = mlir.functions(module)
        if func not in found:
            there = ", ".join(f"@{n}" for n in found) or "none"
            raise ValueError(f"load: the module has no function @{func}; it has {there}")
        self.__name__ = func
        self.ir: IR = IR(module, func)
        self.device = device
        self._builder, self._weights = _without_weights(module, func)
        block = mlir.body(found[func])
        self._sizes = api.arguments_of_sizes(found[func])
        """The numbers of arguments whose elements are sizes."""
        results = () if self._sizes else mlir.terminator(block).operands
        self.inputs: list[ShapedArray] = _inputs(found[func], bool(self._sizes))
        self.outputs: list[ShapedArray] = [_aval(v) for v in results]
        """The results' types; none where these depend on the elements of arguments."""
        self._executables: dict[Device, Executable] = {}
        self.is_sized: bool = bool(self._sizes) or api.is_sized(found[func])
        """True if it is refined for the arguments of a call: their sizes, or elements, are not
        known."""
        self._for_sizes: dict[Any, LoadedFunction] = {}
        self._bounds: list[int] | None = None
        """The numbers of arguments that may be bounds of loops; None before they are looked for."""
        self._for_bounds: dict[Any, ModuleBuilder] = {}

    @property
    def apart(self) -> tuple[IR, list[np.ndarray[Any, Any]]]:
        """A module in which it takes its weights after its arguments, and these."""
        return IR(self._builder.module, self.__name__), [x.value for x in self._weights]

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, avals)) for avals in (self.inputs, self.outputs))
        outputs = "..." if self._sizes else outputs
        return f"<@{self.__name__}: ({inputs}) -> ({outputs})>"

    @api_boundary
    def __call__(self, *args: Any) -> Any:
        arrays = self._check(args)
        results = self.for_sizes_of(arrays).flat(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def for_sizes_of(
        self, arrays: Sequence[Any], names: Sequence[str] | None = None, what: str = ""
    ) -> LoadedFunction:
        """This function for the sizes of some arrays, which have values for its symbolic
        dimensions, or symbolic dimensions of their own; itself if it has none.

        Raises:
            ValueError: the sizes are not as the types of its arguments say. `names` are those of
                the arguments in the message, and `what` is that of the function.
        """
        if not self.is_sized:
            return self
        if self._sizes:
            return self._with_values_of(arrays)
        function = mlir.functions(self.ir.module)[self.__name__]
        names = names or [f"argument {i}" for i in range(len(arrays))]
        try:
            values = api.values_for(function, [np.shape(x) for x in arrays], names)
        except ValueError as error:
            raise ValueError(f"{what or '@' + self.__name__}: {error}") from None
        key = tuple(sorted(values.items()))
        if key not in self._for_sizes:
            module = api.refined(self.ir.module, self.__name__, values)
            self._for_sizes[key] = LoadedFunction(module, self.__name__, self.device)
        return self._for_sizes[key]

    def _with_values_of(self, arrays: Sequence[Any]) -> LoadedFunction:
        """This function for the shapes of arrays, and the elements of those that are sizes."""
        shapes = [np.shape(x) for x in arrays]
        why = f"@{self.__name__}: argument"
        values = {
            i: arrays[i].concrete(f"{why} {i}, which has sizes", errors.ConcretizationTypeError)
            for i in self._sizes
        }
        key = (*shapes, *((i, x.tobytes()) for i, x in values.items()))
        if key not in self._for_sizes:
            try:
                module = api.with_values(self.ir.module, self.__name__, shapes, values)
            except ValueError as error:
                raise ValueError(f"@{self.__name__}: {error}") from None
            self._for_sizes[key] = LoadedFunction(module, self.__name__, self.device)
        return self._for_sizes[key]

    def flat(self, arrays: Sequence[Array], weak: Sequence[bool] = ()) -> list[Array]:
        """The results, for arrays of the right types. `weak` says which are weakly typed."""
        return staged(
            lambda: self._results(arrays, weak),
            lambda _: self._traced(arrays, weak),
            arrays,
        )

    def _traced(self, arrays: Sequence[Array], weak: Sequence[bool]) -> list[Array]:
        """A call in a trace. Bounds of loops that are known there give these reverse mode."""
        builder = self._builder
        if self._bounds is None:
            self._bounds = api.arguments_of_bounds(builder.module, self.__name__)
        known = {i: x.value for i in self._bounds if isinstance(x := arrays[i], ConcreteArray)}
        if known:
            key = tuple((i, int(x)) for i, x in known.items())
            if key not in self._for_bounds:
                module = api.with_bounds(builder.module, self.__name__, known)
                self._for_bounds[key] = ModuleBuilder(module)
            builder = self._for_bounds[key]
        return call(builder, self.__name__, [*arrays, *self._weights], weak)

    def _results(self, arrays: Sequence[Array], weak: Sequence[bool]) -> list[Array]:
        if self.device == "reference":
            values = [x.concrete("a call", TypeError) for x in arrays]
            evaluated = Evaluator(self.ir.module)(self.__name__, values)
            return [ConcreteArray(r) for r in evaluated]
        return self._run(arrays, weak)

    def _run(self, arrays: Sequence[Array], weak: Sequence[bool]) -> list[Array]:
        put_on = device_of(arrays, f"@{self.__name__}")
        device = backend.resolve_device(self.device or put_on or config.default_device)
        executable = self._executables.get(device)
        if executable is None:
            executable = backend.compile(self._builder.module, self.__name__, device)
            self._executables[device] = executable
        given = (*arrays, *self._weights)
        buffers = [x.buffer(device) for x in given if isinstance(x, ConcreteArray)]
        results = executable(buffers)
        avals = self.outputs
        if any(weak):
            avals = [a.update(weak_type=w) for a, w in zip(avals, weak, strict=True)]
        return [
            ConcreteArray.of_buffer(b, aval, put_on is not None)
            for b, aval in zip(results, avals, strict=True)
        ]

    def _check(self, args: tuple[Any, ...]) -> list[Array]:
        if len(args) != len(self.inputs):
            raise TypeError(f"@{self.__name__} takes {len(self.inputs)} arguments, got {len(args)}")
        arrays = []
        for i, (arg, aval) in enumerate(zip(args, self.inputs, strict=True)):
            array = as_argument(arg, aval, f"@{name_of(self)}: argument {i}")
            if array.ndim != aval.ndim or not (self.is_sized or array.shape == aval.shape):
                raise ValueError(
                    f"@{self.__name__}: argument {i} has type {array.aval}; expected {aval}"
                )
            if array.dtype != aval.dtype:
                raise TypeError(
                    f"@{self.__name__}: argument {i} has type {array.aval}; expected {aval}"
                )
            arrays.append(array)
        return arrays


def _without_weights(module: mlir.Module, func: str) -> tuple[ModuleBuilder, list[ConcreteArray]]:
    """A module in which a function takes its weights after its arguments, and these."""
    apart, weights = api.set_weights_apart(module, func)
    return ModuleBuilder(apart), [ConcreteArray(x) for x in weights]


def as_argument(arg: Any, aval: ShapedArray, what: str) -> Array:
    """An argument of a module's function as an array: numbers become what it takes, and NumPy
    arrays of 64-bit types stay what they are, whatever enable_x64 says.
    """
    if isinstance(arg, np.ndarray | np.generic) and arg.dtype == aval.dtype:
        return ConcreteArray(np.array(arg))
    array = as_array(arg, what)
    if array.weak_type and dtypes.can_cast(array.dtype, aval.dtype, "same_kind"):
        return array.astype(aval.dtype)
    return array


def _aval(value: Any) -> ShapedArray:
    return ShapedArray(mlir.shape_of(value), mlir.dtype_of(value))


def _inputs(function: mlir.Operation, has_sizes_by_value: bool) -> list[ShapedArray]:
    arguments = mlir.arguments(function)
    if not has_sizes_by_value:
        return list(map(_aval, arguments))
    shapes = api.shapes_of_arguments(function)
    return [ShapedArray(s, mlir.dtype_of(x)) for s, x in zip(shapes, arguments, strict=True)]
