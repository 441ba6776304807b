"""Functions of C's in programs: of a shared library, of Numba or Cython, or of ctypes.

    // scale.c: cc -shared -fPIC -I $(python -c "import irax; print(irax.ffi.include_dir())") ...
    #include "irax_ffi.h"
    void scale(IRAX_ARRAY(const float, x), IRAX_ARRAY(float, y), double factor) { ... }

    irax.ffi.register_ffi_target("scale", ctypes.CDLL("./libscale.so").scale)
    irax.ffi.ffi_call("scale", irax.ShapeDtypeStruct((3,), "float32"))(x, factor=2.0)

A function takes for each operand, and then for each result, a pointer to its elements, the number
of its dimensions (`int64_t`) and a pointer to their lengths; then the attributes, in the order of
their names. It returns nothing. Numbers are passed by value, Python's as `int64_t`, `double` and
`bool`; a row of numbers is a pointer and the number of them, a string ends with a zero. Results
have memory of their own, whose contents the function writes.

A compiled program on the processor calls the function without Python. Handlers of XLA's foreign
function interface, which take an `XLA_FFI_CallFrame`, are called by `jax.ffi` of `irax.compat`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import ShapedArray, ShapeDtypeStruct
from irax.core.dispatch import acting, beside, bind, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.execution.callbacks import expected_result
from irax_compiler import mlir
from irax_compiler.ops import foreign_function as ops
from irax_compiler.ops.callback import VMAP_METHODS

__all__ = ["ffi_call", "ffi_lowering", "include_dir", "pycapsule", "register_ffi_target"]

_NUMBERS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64"),
)
"""The dtypes of attributes."""

_POINTER: type = type(ctypes.CFUNCTYPE(None)()).__mro__[1]
"""The class of the functions of ctypes."""

_kept: dict[str, Any] = {}
"""The objects that functions were registered as, which may own their code."""


# ---- registering ---------------------------------------------------------------------------------


def register_ffi_target(
    name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any
) -> None:
    """Register a C function under a name, for `ffi_call`.

    A function that a shared library exports is called by its symbol, so compiled programs can be
    saved: whoever loads one needs the library. Another function is called by its address, in this
    process alone.

    Args:
        name: the name; a name stays with its function.
        fn: a function of ctypes, a capsule with a pointer (`pycapsule`, Cython's `__pyx_capi__`),
            or an object with the attribute `address`, such as Numba's `cfunc`.
        platform: "cpu".
        api_version: accepted; the function has irax's signature (see the module) in any case.
        kwargs: none.

    Raises:
        TypeError: `fn` is no function of C's, or `name` no str.
        ValueError: the name has another function.
        NotImplementedError: another platform, or further arguments.

    >>> import ctypes
    >>> pointers = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
    >>> @ctypes.CFUNCTYPE(None, *pointers, *pointers)
    ... def negate(x, x_rank, x_extents, y, y_rank, y_extents):
    ...     ctypes.cast(y, ctypes.POINTER(ctypes.c_float))[0] = -ctypes.cast(
    ...         x, ctypes.POINTER(ctypes.c_float)
    ...     )[0]
    >>> irax.ffi.register_ffi_target("negate", negate)
    >>> irax.ffi.ffi_call("negate", irax.ShapeDtypeStruct((), "float32"))(irax.numpy.float32(2.0))
    Array(-2., dtype=float32)
    """
    if platform.lower() not in ("cpu", "host"):
        raise NotImplementedError(
            f"register_ffi_target: platform={platform!r}: only programs on the processor call C "
            "functions; expected 'cpu'"
        )
    if kwargs:
        raise NotImplementedError(
            f"register_ffi_target: unknown arguments {', '.join(sorted(kwargs))}; expected none"
        )
    if not isinstance(name, str):
        raise TypeError(f"register_ffi_target: name must be a str, got {name!r}")
    function = _described(address_of(fn))
    if ops.FUNCTIONS.setdefault(name, function) != function:
        raise ValueError(
            f"register_ffi_target: {name!r} is registered for another function "
            f"({ops.FUNCTIONS[name].symbol}); choose another name"
        )
    _kept[name] = fn


def address_of(fn: Any) -> int:
    """Return the address of a function's code.

    Args:
        fn: a function, as of `register_ffi_target`.

    Raises:
        TypeError: `fn` is no function of C's.

    >>> import ctypes
    >>> irax.ffi.address_of(ctypes.CFUNCTYPE(None)(lambda: None)) > 0
    True
    """
    if isinstance(fn, _POINTER):
        found = ctypes.cast(fn, ctypes.c_void_p).value
    elif type(fn).__name__ == "PyCapsule":
        found = _pointer_of(fn)
    else:
        found = getattr(fn, "address", None)
    if not isinstance(found, int) or not found:
        raise TypeError(
            f"register_ffi_target: fn is {fn!r}; expected a function of ctypes, a capsule, or an "
            "object with an `address`; Python functions are called by irax.pure_callback"
        )
    return found


def _pointer_of(capsule: Any) -> int | None:
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.argtypes, name_of.restype = [ctypes.py_object], ctypes.c_char_p
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.argtypes, pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return pointer_of(capsule, name_of(capsule))


class _Symbol(ctypes.Structure):
    """The symbol at an address, as `dladdr` describes it: `Dl_info`."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _described(address: int) -> ops.CFunction:
    """The function with its library and symbol; those of the process if no library exports it."""
    from irax_runtime import libraries

    found = _Symbol()
    if os.name == "posix":
        ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found))
    if found.address == address and found.name and found.file:
        file, symbol = os.path.abspath(os.fsdecode(found.file)), found.name.decode()
        if libraries.has(file, symbol):
            return ops.CFunction(address, file, symbol)
    return ops.CFunction(address, libraries.this_process(), f"irax_at_{address:x}")


def pycapsule(funcptr: Any) -> Any:
    """Return a capsule with the pointer of a ctypes function, for `register_ffi_target`.

    Args:
        funcptr: a function of `ctypes`, or its address.

    Raises:
        ValueError: a null pointer.

    >>> import ctypes
    >>> type(irax.ffi.pycapsule(ctypes.CFUNCTYPE(None)(lambda: None))).__name__
    'PyCapsule'
    """
    new = ctypes.pythonapi.PyCapsule_New
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    new.restype = ctypes.py_object
    return new(ctypes.cast(funcptr, ctypes.c_void_p), None, None)


def include_dir() -> str:
    """Return the folder of the header `irax_ffi.h`, which has a macro for the parameters of a
    function. XLA's headers are not in it: irax cannot call functions written with them.

    >>> from pathlib import Path
    >>> [file.name for file in Path(irax.ffi.include_dir()).iterdir()]
    ['irax_ffi.h']
    """
    return str(Path(__file__).parent / "include")


# ---- calling -------------------------------------------------------------------------------------


@api_boundary
def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Sequence[int] | None] | None = None,
    output_layouts: Sequence[Any] | None = None,
    input_output_aliases: dict[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """Return a function that calls a C function.

    The function returned takes the operands, and the attributes by name. It has no derivative: give
    the function around it one with `custom_jvp` or `custom_vjp`.

    Args:
        target_name: the name that `register_ffi_target` knows the function by.
        result_shape_dtypes: something with a `shape` and a `dtype`, such as a `ShapeDtypeStruct`;
            or a list of such for a function of several results, which are then returned as a list.
        has_side_effect: True if it must be called as often as the program says, in order; otherwise
            it is called any number of times, or not at all.
        vmap_method: what `vmap` does, as of `pure_callback`: None refuses; "sequential" and
            "sequential_unrolled" call it for each lane; "broadcast_all", "expand_dims" and
            "legacy_vectorized" call it once, with arrays that have one more dimension.
        input_layouts: for each operand None, or the order of its dimensions in memory; C's order
            alone is supported.
        output_layouts: the same of the results.
        input_output_aliases: None; results have memory of their own.
        custom_call_api_version: 4.
        legacy_backend_config: None.

    Raises:
        TypeError: an operand is not an array, or an attribute is of a type that C does not get.
        ValueError: an unknown `vmap_method`, or 64-bit results without `enable_x64`.
        NotImplementedError: an argument that is not supported; an unregistered name; under `vmap`
            without a `vmap_method`.
    """
    what = f"ffi_call of {target_name!r}"
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise ValueError(
            f"{what}: vmap_method must be None or one of {', '.join(map(repr, VMAP_METHODS))}, "
            f"got {vmap_method!r}"
        )
    for name, value, expected in (
        ("input_output_aliases", input_output_aliases or None, None),
        ("custom_call_api_version", custom_call_api_version, 4),
        ("legacy_backend_config", legacy_backend_config, None),
    ):
        if value != expected:
            raise NotImplementedError(
                f"{what}: {name}={value!r} is not supported; expected {expected}"
            )
    has_several = isinstance(result_shape_dtypes, list | tuple)
    listed = list(result_shape_dtypes) if has_several else [result_shape_dtypes]
    results = [expected_result(what, f"[{i}]", x) for i, x in enumerate(listed)]
    _check_layouts(f"{what}: output_layouts", output_layouts, [len(s) for s, _ in results])

    def call(*args: Any, **attributes: Any) -> Any:
        arrays = [as_array(x, f"{what}: argument {i}") for i, x in enumerate(args)]
        _check_layouts(f"{what}: input_layouts", input_layouts, [x.ndim for x in arrays])
        given = ops.encode({name: _attribute(what, name, x) for name, x in attributes.items()})
        function = ops.function_of(target_name)
        op = partial(
            ops.ForeignFunction,
            key=target_name,
            kind="io" if has_side_effect else "pure",
            vmap_method=vmap_method or "",
            parameters=given,
        )

        def run() -> list[Array]:
            operands = [x.concrete(what, TypeError) for x in arrays]
            found = [ConcreteArray(x) for x in ops.run(function, operands, results, given)]
            return [beside(what, x, arrays) for x in found]

        def write(builder: ModuleBuilder) -> list[Array]:
            types = tuple(mlir.tensor_type(shape, dtype) for shape, dtype in results)
            return list(bind(op(types=types), *arrays))

        if has_side_effect:
            found = acting(run, write, arrays, reads=False)
        else:
            found = staged(run, write, arrays)
        return found if has_several else found[0]

    return call


class _Lowered(Protocol):
    """The context of a lowering."""

    @property
    def avals_out(self) -> Sequence[ShapedArray]:
        """The types of the results."""
        ...


def ffi_lowering(
    call_target_name: str,
    *,
    operand_layouts: Sequence[Sequence[int] | None] | None = None,
    result_layouts: Sequence[Sequence[int] | None] | None = None,
    backend_config: Mapping[str, Any] | None = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> Callable[..., list[Array]]:
    """Return the lowering of a primitive that is a call of a C function, for `register_lowering`.
    The types of results are those of the primitive's.

    Args:
        call_target_name: the name that `register_ffi_target` knows the function by.
        operand_layouts: for each operand None, or the order of its dimensions in memory, the
            fastest first; C's order alone is supported.
        result_layouts: the same of the results.
        backend_config: attributes, beside the primitive's parameters.
        skip_ffi_layout_processing: accepted.
        lowering_args: `has_side_effect`, as of `ffi_call`.

    Raises:
        TypeError: another argument.
        NotImplementedError: when a program is traced: a layout that is not supported.
    """

    def from_slowest(layouts: Sequence[Sequence[int] | None] | None) -> Any:
        return layouts and [None if x is None else tuple(x)[::-1] for x in layouts]

    unknown = lowering_args.keys() - {"has_side_effect"}
    if unknown:
        raise TypeError(f"ffi_lowering: unexpected arguments {', '.join(sorted(unknown))}")

    def lowering(ctx: _Lowered, *operands: Any, **params: Any) -> list[Array]:
        call = ffi_call(
            call_target_name,
            [ShapeDtypeStruct(a.shape, a.dtype) for a in ctx.avals_out],
            input_layouts=from_slowest(operand_layouts),
            output_layouts=from_slowest(result_layouts),
            **lowering_args,
        )
        return list(call(*operands, **(backend_config or {}), **params))

    return lowering


def _check_layouts(what: str, layouts: Sequence[Any] | None, ranks: Sequence[int]) -> None:
    """Raise an error if a layout is not C's."""
    if layouts is None:
        return
    if len(layouts) != len(ranks):
        raise ValueError(f"{what} has {len(layouts)} items; expected {len(ranks)}")
    for layout, rank in zip(layouts, ranks, strict=True):
        if layout is not None and list(layout) != list(range(rank)):
            raise NotImplementedError(
                f"{what}: {layout!r} is not supported; expected None or {tuple(range(rank))}: "
                "transpose the array"
            )


def _attribute(what: str, name: str, value: Any) -> np.ndarray[Any, Any] | str:
    """An attribute as C gets it."""
    if isinstance(value, str):
        return value
    found = np.asarray(value)
    if found.dtype.name not in _NUMBERS or found.ndim > 1:
        raise TypeError(
            f"{what}: attribute {name}={value!r}: expected a string, a number, or a row of "
            f"numbers, of one of {', '.join(_NUMBERS)}"
        )
    return found


__getattr__: _GetAttr = _refuse_names(__name__)
