"""Arrays from files, buffers, text and functions; and into files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any, NoReturn

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.lax.arguments import canonical_shape
from irax.numpy.creation import asarray
from irax.transforms import vmap
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.dtypes import is_of_numpy

File = str | os.PathLike[Any] | IO[bytes]


# ---- files ---------------------------------------------------------------------------------------


def save(file: File, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Writes an array to a file of NumPy's format, `.npy`.

    Args:
        file: a path, or an open file.
        arr: an array.
        allow_pickle: of no effect: there are no arrays of objects.

    Raises:
        TypeError: a dtype that the format has no name for: only `bfloat16` of those that are not
            NumPy's can be read back.
    """
    np.save(file, _storable("save", arr), allow_pickle=allow_pickle)


def savez(file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Writes arrays to a file of NumPy's format, `.npz`: under names, or `arr_0`, `arr_1`, ...

    Args:
        file: a path, or an open file.
        args: arrays without names.
        allow_pickle: of no effect: there are no arrays of objects.
        kwds: arrays by name.

    Raises:
        TypeError: a dtype that is not NumPy's.
    """
    arrays = [_storable("savez", x) for x in args]
    named = {name: _storable("savez", x) for name, x in kwds.items()}
    for x in (*arrays, *named.values()):
        if not is_of_numpy(x.dtype):
            raise _unnamed("savez", x.dtype)
    np.savez(file, *arrays, allow_pickle=allow_pickle, **named)


def _storable(name: str, x: ArrayLike) -> np.ndarray[Any, Any]:
    is_numpys = isinstance(x, bool | int | float | complex | np.generic | np.ndarray)
    if not is_numpys or np.asarray(x).dtype.kind not in "biufc":
        x = asarray(x)
    value = np.asarray(x)  # a number of 64 bits keeps these
    if not is_of_numpy(value.dtype) and value.dtype != dtypes.bfloat16:
        raise _unnamed(name, value.dtype)
    return value


def _unnamed(name: str, dtype: np.dtype[Any]) -> TypeError:
    return TypeError(
        f"{name}: NumPy's format has no name for {dtype}; convert with .astype('float32'), or keep "
        "the bits: .view('uint8')"
    )


def load(file: File, *args: Any, **kwargs: Any) -> Any:
    """Reads an array that `save` wrote, or (as NumPy's arrays, by name) those of `savez`.

    Args:
        file: a path, or an open file.
        args: further arguments of `numpy.load`.
        kwargs: likewise.

    Raises:
        OSError: there is no such file.
        TypeError: `file` is not a path or a file.
        ValueError, EOFError: it is damaged, or has no arrays.

    >>> import io
    >>> file = io.BytesIO()
    >>> irax.numpy.save(file, irax.numpy.arange(3))
    >>> _ = file.seek(0)
    >>> irax.numpy.load(file)
    Array([0, 1, 2], dtype=int32)
    """
    try:
        found = np.load(file, *args, **kwargs)
    except EOFError as error:
        raise EOFError(f"load: {file}: {error}") from None
    except ValueError as error:
        raise ValueError(f"load: {file}: {error}") from None
    if not isinstance(found, np.ndarray):
        return found
    if found.dtype == np.dtype("V2"):  # what the format says of bfloat16
        found = found.view(dtypes.bfloat16)
    return asarray(found)


# ---- memory --------------------------------------------------------------------------------------


def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> Array:
    """Return the elements in a buffer, such as bytes.

    Args:
        buffer: anything with Python's buffer protocol.
        dtype: of the elements, as they are in the buffer.
        count: the number of elements; all by default.
        offset: the number of bytes before the first element.

    Raises:
        TypeError: `buffer` is not a buffer, or `dtype` not a dtype.
        ValueError: its length is not a multiple of the element's size, or `offset` and `count` are
            not within it.

    >>> irax.numpy.frombuffer(b"irax", dtype="uint8")
    Array([105, 114,  97, 120], dtype=uint8)
    """
    of = np.dtype(dtype)
    try:
        found = np.frombuffer(buffer, of, count, offset)
    except TypeError as error:
        raise TypeError(f"frombuffer: buffer: {error}") from None
    except ValueError as error:
        size = memoryview(buffer).nbytes
        raise ValueError(
            f"frombuffer: {error}: the buffer has {size} bytes, an element of {of.name} has "
            f"{of.itemsize}, count is {count}, offset {offset}"
        ) from None
    return asarray(found)


def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """Parse the numbers in a text.

    Args:
        string: the text.
        dtype: of the numbers.
        count: the number of elements; all by default.
        sep: the separator between them.

    Raises:
        TypeError: `string` is not a text, or `dtype` not a dtype.
        ValueError: there is something else than numbers in it.

    >>> irax.numpy.fromstring("1, 2", dtype=int, sep=",")
    Array([1, 2], dtype=int32)
    """
    return asarray(np.fromstring(string, np.dtype(dtype), count, sep=sep))


def _impure(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"{name} is not supported: what it reads may be another thing each time, which a "
            f"compiled function cannot do; use irax.numpy.asarray(numpy.{name}(...))"
        )

    function.__name__ = function.__qualname__ = name
    function.__module__ = "irax.numpy"
    function.__doc__ = f"""Not supported: use `irax.numpy.asarray(numpy.{name}(...))`.

    Args:
        args: those of NumPy's function.
        kwargs: those of NumPy's function.

    Raises:
        NotImplementedError: always.
    """
    return function


fromfile: Callable[..., NoReturn] = _impure("fromfile")
fromiter: Callable[..., NoReturn] = _impure("fromiter")


# ---- functions -----------------------------------------------------------------------------------


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: DTypeLike = float, **kwargs: Any
) -> Any:
    """Return an array made by a function of the indices along each axis.

    Args:
        function: takes an array of indices for each axis.
        shape: ints.
        dtype: of the indices.
        kwargs: further arguments of the function.

    Raises:
        TypeError: `function` is not a function, or `shape` not a shape.

    >>> irax.numpy.fromfunction(lambda i, j: 10 * i + j, (2, 2), dtype=int)
    Array([[ 0,  1],
           [10, 11]], dtype=int32)
    """
    sizes = canonical_shape("fromfunction", shape)
    wanted = dtypes.requested_dtype(dtype, "fromfunction")

    def at_places(*places: Array) -> Any:
        return function(*places, **kwargs)

    for d in reversed(range(len(sizes))):
        axes = tuple(0 if e == d else None for e in range(len(sizes)))
        at_places = vmap.vmap(at_places, in_axes=axes)
    return at_places(*(lax.iota(wanted, n) for n in sizes))
