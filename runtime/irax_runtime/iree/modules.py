"""Element types, and a module's functions and their types, for all of IREE's devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import iree.runtime as rt
import iree.runtime.version
import numpy as np

from irax_runtime.device import Buffer
from irax_runtime.printable import expected_types, printable
from irax_runtime.signature import TensorType, dtype_of_name, parse_signature

DRIVER = f"IREE {iree.runtime.version.VERSION}"
"""The name and version of the driver."""

_ELEMENT_NAMES = {
    "BOOL_8": "i1",
    **{f"{kind}INT_{n}": f"i{n}" for kind in ("", "S") for n in (8, 16, 32, 64)},
    **{f"UINT_{n}": f"ui{n}" for n in (8, 16, 32, 64)},
    "FLOAT_16": "f16",
    "FLOAT_32": "f32",
    "FLOAT_64": "f64",
    "BFLOAT_16": "bf16",
    "COMPLEX_64": "complex<f32>",
    "COMPLEX_128": "complex<f64>",
    "FLOAT_8_E4M3_FN": "f8E4M3FN",
    "FLOAT_8_E5M2": "f8E5M2",
    "FLOAT_8_E4M3_FNUZ": "f8E4M3FNUZ",
    "FLOAT_8_E5M2_FNUZ": "f8E5M2FNUZ",
}


@cache
def _element_types() -> tuple[dict[np.dtype[Any], Any], dict[int, np.dtype[Any]]]:
    """IREE's element types by dtype, and the other way round."""
    of_dtype: dict[np.dtype[Any], Any] = {}
    of_element: dict[int, np.dtype[Any]] = {}
    for name, spelling in _ELEMENT_NAMES.items():
        element = getattr(rt.HalElementType, name, None)
        if element is None:
            continue
        try:
            dtype = dtype_of_name(spelling)
        except ImportError:  # no ml_dtypes: no arrays of its dtypes either
            continue
        of_dtype.setdefault(dtype, element)
        of_element[int(element)] = dtype
    return of_dtype, of_element


def element_type(dtype: np.dtype[Any], device: object) -> Any:
    """IREE's element type of a dtype. Raises TypeError, which names the device, if it has none."""
    element = _element_types()[0].get(dtype)
    if element is None:
        raise no_element_type(dtype, device)
    return element


def no_element_type(dtype: np.dtype[Any], device: object) -> TypeError:
    """Return the error of a dtype that a device has no arrays of."""
    return TypeError(f"put: {device!r} takes no arrays of dtype {dtype}")


_IN_BYTES = {
    **dict.fromkeys(("int2", "int4"), "int8"),
    **dict.fromkeys(("uint2", "uint4"), "uint8"),
    **dict.fromkeys(("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"), "uint8"),
    **dict.fromkeys(("float8_e3m4", "float8_e4m3", "float8_e8m0fnu"), "uint8"),
    "float8_e4m3b11fnuz": "uint8",
}


@cache
def forms_in_bytes(dtype: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    """Return IREE's element type for arrays of a dtype on the CPU, None where there is none, and
    the `plain` dtype. Integers of fewer than 8 bits are bytes there, as in NumPy's arrays, and
    so are the narrow floats that the compiler encodes.
    """
    stored = np.dtype(_IN_BYTES.get(dtype.name, dtype)) if dtype.isbuiltin == 2 else dtype
    return _element_types()[0].get(stored), plain(dtype)


def plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of NumPy's own of the same width: those of ml_dtypes have no buffer protocol."""
    # Not `== 1`: of dtypes that were unpickled, NumPy's own too, it is 0.
    return np.dtype(f"u{dtype.itemsize}") if dtype.isbuiltin == 2 else dtype


def type_of_view(view: Any) -> TensorType:
    """The dtype and shape of a view of a buffer."""
    return TensorType(_element_types()[1][int(view.element_type)], tuple(view.shape))


def load_module(instance: Any, artefact: bytes, entry: str | None) -> tuple[Any, str]:
    """IREE's module of an artefact, and the name of the function to run.

    Args:
        instance: IREE's virtual machine.
        artefact: the compiled module.
        entry: its function; may be left out where there is only one, or one called `main`.

    Raises:
        ValueError: the bytes are not a compiled module, or it has no such function.
    """
    module = _module(instance, artefact)
    names = [n for n in module.function_names if not n.startswith("__")]
    if entry is None:
        entry = "main" if "main" in names else names[0] if len(names) == 1 else None
    if entry is None or entry not in names:
        raise ValueError(
            f"the program has no function {entry or 'main'}; it has "
            f"{printable(', '.join(names)) or 'none'}"
        )
    return module, entry


def functions(artefact: bytes) -> dict[str, dict[str, str]]:
    """The compiler's notes on each function of a compiled module, whose kernels are not
    loaded for it. Raises ValueError where the bytes are none.
    """
    module = _module(rt.VmInstance(), artefact)
    names = [n for n in module.function_names if not n.startswith("__")]
    return {name: dict(module.lookup_function(name).reflection) for name in names}


def _module(instance: Any, artefact: bytes) -> Any:
    try:
        return rt.VmModule.copy_buffer(instance, artefact)
    except (RuntimeError, ValueError, IndexError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise ValueError(f"not a compiled IREE module: {reason}") from None


def signature(reflection: dict[str, str], key: str) -> list[TensorType] | None:
    """The types that the compiler wrote down under `key`; None where it was not irax's."""
    return parse_signature(reflection[key]) if key in reflection else None


def check(name: str, arguments: Sequence[Buffer], expected: Sequence[TensorType]) -> None:
    """Raises TypeError or ValueError for arguments that do not fit the function `name`."""
    if len(arguments) != len(expected):
        given = f"{name} takes {len(expected)} arguments, got {len(arguments)}"
        fits = [
            (x.dtype, x.shape) == (t.dtype, t.shape)
            for x, t in zip(arguments, expected, strict=False)
        ]
        raise TypeError(f"{given}; {expected_types([*map(str, expected)], fits)}")
    for i, (argument, type_) in enumerate(zip(arguments, expected, strict=True)):
        if argument.dtype is not type_.dtype and argument.dtype != type_.dtype:
            raise TypeError(f"{name}: argument {i} has dtype {argument.dtype}; expected {type_}")
        if argument.shape != type_.shape:
            raise ValueError(f"{name}: argument {i} has shape {argument.shape}; expected {type_}")
