"""Arrays on the command line: `x.npy`, `4x4xf32=1`, `3xi32=1,2,3`; and types: `f32[8,64]`."""

from __future__ import annotations

import ast
import difflib
import io
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_runtime import archives
from irax_tools.files import write_file

_SHORT = {
    "bool": "i1",
    **{f"u{n}": f"ui{n}" for n in (4, 8, 16, 32, 64)},
    "c64": "complex<f32>",
    "c128": "complex<f64>",
}
_BOOLS = {"true": True, "1": True, "false": False, "0": False}


def dtype(name: str) -> np.dtype[Any]:
    """A dtype of its short name: f32, i32, u8, bf16, c64, bool. Raises UsageError for others."""
    spelled = _SHORT.get(name, name)
    if spelled not in mlir.DTYPES:
        known = [*_SHORT, *(n for n in mlir.DTYPES if "<" not in n)]
        near = difflib.get_close_matches(name, known, n=1)
        meant = f": did you mean {near[0]!r}? Known" if near else "; known"
        raise click.UsageError(f"unknown element type {name!r}{meant} are {', '.join(known)}")
    return mlir.DTYPES[spelled]


def parse_input(text: str) -> np.ndarray[Any, Any]:
    """The array of a .npy file, or of `4x4xf32=1`. Raises UsageError if it is neither.

    In `bf16=x.npy` the type says what the bytes in the file are: NumPy writes elements of dtypes
    that are not its own as mere bytes.
    """
    match = re.fullmatch(r"((?:\d+x)*)(\w+|complex<f\d+>)=(.*)", text, re.DOTALL)
    if match is None:
        text = text.removeprefix("@")  # as IREE's tools have it
        if "=" in text or not text.endswith(".npy"):
            raise click.UsageError(
                f"--input {text!r}: expected a .npy file, or a type and values such as 4x4xf32=1 "
                "or 3xi32=1,2,3"
            )
        array = _load(text)
        if array.dtype.kind == "V":
            raise ValueError(
                f"--input {text}: NumPy has written bytes, of which it does not say the type; tell "
                f"it, as in bf16={text}"
            )
        return array
    shape = tuple(int(n) for n in match[1].split("x") if n)
    element = dtype(match[2])
    if match[3].endswith(".npy"):
        return _as_type(_load(match[3]), shape if match[1] else None, element, text)
    try:
        tokens = [t for t in re.split(r"[,\s]+", match[3].strip("[] ")) if t]
        numbers = [_number(t, element) for t in tokens]
    except ValueError:
        raise click.UsageError(f"--input {text!r}: {match[3]!r} are not numbers") from None
    if element.kind != "b" and not mlir.inexact(element):
        limits = ml_dtypes.iinfo(element)
        if any(not limits.min <= n <= limits.max for n in numbers):
            raise click.UsageError(
                f"--input {text!r}: expected values from {limits.min} to {limits.max}"
            )
    values = np.array(numbers, np.uint64 if element == np.uint64 else None).astype(element)
    size = math.prod(shape)
    if size * element.itemsize > sys.maxsize:
        raise click.UsageError(f"--input {text!r}: more bytes than memory can have: {size} values")
    if values.size not in (1, size):
        raise click.UsageError(
            f"--input {text!r}: expected 1 value or {size} for shape {shape}, got {values.size}"
        )
    if values.size == 1:
        return np.full(shape, values[0], element)
    return values.reshape(shape)


def _number(token: str, element: np.dtype[Any]) -> Any:
    if element == np.bool_:
        if token.lower() not in _BOOLS:
            raise ValueError(token)
        return _BOOLS[token.lower()]
    if element.kind == "c":
        return complex(token)
    is_integer = element.kind in "iu" or "int" in element.name
    return int(token, 0) if is_integer else float(token)


def _as_type(
    array: np.ndarray[Any, Any], shape: tuple[int, ...] | None, element: np.dtype[Any], text: str
) -> np.ndarray[Any, Any]:
    if array.dtype.kind == "V" and array.dtype.itemsize == element.itemsize:
        array = array.view(element)
    if array.dtype != element or (shape is not None and array.shape != shape):
        raise ValueError(f"--input {text}: the file has {describe(array)}")
    return array


def _load(path: str) -> np.ndarray[Any, Any]:
    found = _read(path, "--input", ".npy")
    if not isinstance(found, np.ndarray):
        raise ValueError(f"--input {path}: several arrays; expected a .npy file")
    return found


def load_all(path: str) -> list[np.ndarray[Any, Any]]:
    """The arrays of a .npz file, in order. Raises UsageError or ValueError."""
    found = _read(path, "--inputs", ".npz")
    if isinstance(found, np.ndarray):
        raise ValueError(f"--inputs {path}: one array; expected a .npz file")
    return list(found.values())


def of_options(inputs: tuple[str, ...], file: str | None) -> list[np.ndarray[Any, Any]]:
    """The arguments that `--input`s say, or `--inputs`. Raises UsageError where both are given."""
    if file is None:
        return [parse_input(text) for text in inputs]
    if inputs:
        raise click.UsageError("--inputs FILE.npz has all arguments; expected no --input")
    return load_all(file)


def typed(
    arrays: Sequence[np.ndarray[Any, Any]], dtypes: Sequence[np.dtype[Any]]
) -> list[np.ndarray[Any, Any]]:
    """Arrays of mere bytes, as which NumPy reads dtypes that are not its own, as arrays of some
    dtypes of that size; others as they are.
    """
    there = [*dtypes, *(a.dtype for a in arrays[len(dtypes) :])]
    return [
        a.view(d) if a.dtype.type is np.void and a.dtype.itemsize == d.itemsize else a
        for a, d in zip(arrays, there, strict=False)
    ]


def _read(path: str, option: str, kind: str) -> np.ndarray[Any, Any] | dict[str, Any]:
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return _native(found)
        with found:
            archives.check(found.zip, Path(path).stat().st_size)
            return {name: _native(found[name], name) for name in found.files}
    except FileNotFoundError:
        raise click.UsageError(f"{option} {path}: no such file") from None
    except _NotNumbers as error:
        raise ValueError(f"{option} {path}: {error}") from None
    except Exception as error:  # zipfile and zlib have errors of their own
        told = str(error) or type(error).__name__
        raise ValueError(f"{option} {path}: not a {kind} file, or damaged: {told}") from None


class _NotNumbers(Exception):
    """An array of a file has no numbers."""


def _native(array: np.ndarray[Any, Any], name: str = "its array") -> np.ndarray[Any, Any]:
    """The array in this machine's order of bytes. Raises _NotNumbers for texts, dates, structs."""
    if array.dtype.kind in "USMm" or array.dtype.names is not None:
        raise _NotNumbers(f"{name} has elements of {array.dtype}; expected numbers or booleans")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def save(path: str, array: np.ndarray[Any, Any]) -> None:
    """Writes a .npy file. Raises ValueError where that is not possible."""
    data = io.BytesIO()
    np.save(data, array)
    write_file(path, data.getvalue())


def save_all(path: str, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    """Writes a .npz file. Raises ValueError where that is not possible."""
    data = io.BytesIO()
    np.savez(data, *arrays)
    write_file(path, data.getvalue())


def describe(array: np.ndarray[Any, Any]) -> str:
    """`float32[4,4]`."""
    return f"{array.dtype.name}[{','.join(map(str, array.shape))}]"


def parse_arguments(text: str) -> tuple[Any, ...]:
    """The arguments that `--args` describes, arrays as `ShapeDtypeStruct`s. Sizes may be names, and
    sums and products of them: f32[batch,784].

    Raises UsageError for what is not Python literals of types such as f32[8,64].
    """
    from irax import ShapeDtypeStruct, export, tree_util

    marker = "irax type: "

    def mark(match: re.Match[str]) -> str:
        return repr(f"{marker}{match[0]}")

    def unmark(leaf: Any) -> Any:
        if isinstance(leaf, str) and leaf.startswith(marker):
            name, dimensions = leaf.removeprefix(marker).rstrip("]").split("[")
            try:
                shape = export.symbolic_shape(dimensions, scope=scope)
            except ValueError as error:
                raise click.UsageError(f"--args {text!r}: {error}") from None
            return ShapeDtypeStruct(shape, dtype(name))
        return leaf

    scope = export.SymbolicScope()
    type_ = r"\b\w+\[[\w\s,+*()-]*\]"
    marked = re.sub(type_, mark, text)
    try:
        if re.search(rf"{type_}\s*{type_}", text):  # which Python would take for one text
            raise ValueError
        literal = ast.literal_eval(f"({marked},)") if text.strip() else ()
    except (ValueError, SyntaxError):
        raise click.UsageError(
            f"--args {text!r}: expected types such as f32[8,64] and i32[], separated by commas, in "
            "Python tuples, lists and dicts where the function takes pytrees"
        ) from None
    return tree_util.tree_map(unmark, literal)
