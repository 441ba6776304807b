"""Buffers of IREE's CPU devices, and the lists of them that programs take."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import iree.runtime as rt
import numpy as np
from iree.runtime._binding import (
    ArgumentPacker,
    InvokeContext,
    _invoke_statics,  # pyright: ignore[reportPrivateUsage]
)

from irax_runtime.in_flight import Pending
from irax_runtime.signature import TensorType


class IreeBuffer:
    """An array in the memory of an IREE device."""

    __slots__ = ("_numpy", "device", "dtype", "is_fixed", "is_own", "ref", "shape", "view")

    def __init__(
        self,
        ref: Any,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        device: Any,
        is_own: bool = False,
        view: Any = None,
    ) -> None:
        self.ref: Any = ref
        """IREE's reference to its view of the memory; a `Pending` while a call computes it, and
        None if it was deleted."""
        self.view: Any = view
        """The view itself, from the second use as an argument on; None before the first."""
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.is_own = is_own
        """False if other buffers may have the memory, too."""
        self._numpy: np.ndarray[Any, Any] | None = None
        self.is_fixed = False
        """True if its address was asked for: see `keep_addresses`."""

    def __repr__(self) -> str:
        return f"<{TensorType(self.dtype, self.shape)} on {self.device!r}>"

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, as a read-only view of the buffer's own memory. Raises RuntimeError if it
        was deleted.
        """
        if self._numpy is None:
            self._numpy = self._elements()
        return self._numpy

    def _elements(self) -> np.ndarray[Any, Any]:
        self.wait()
        return elements(self.ref, self.shape, self.dtype)

    def address(self) -> int:
        """Return the address of the first element. From now on, a program that the buffer is
        donated to leaves a result there.

        Raises:
            RuntimeError: it was deleted.
        """
        self.is_fixed = self.device.has_fixed = True
        return self.place.start

    @property
    def place(self) -> range:
        """The addresses of its bytes."""
        array = self._elements() if self._numpy is None else self._numpy
        return range(array.ctypes.data, array.ctypes.data + array.nbytes)

    def move_to(self, other: IreeBuffer) -> None:
        """Copy the elements to the memory of a buffer of the same type, and keep them there."""
        place = self.place
        ctypes.memmove(other.place.start, place.start, len(place))
        self.ref, self.view, self._numpy, self.is_own = other.ref, None, None, True

    @property
    def is_exclusive(self) -> bool:
        """True if nothing else has the memory: no other buffer, and no array of NumPy's."""
        return self.is_own and self._numpy is None

    def delete(self) -> None:
        """Give the memory up. Arrays of NumPy's that share it and calls in flight keep it."""
        self.ref = self.view = self._numpy = None

    def is_deleted(self) -> bool:
        """Return True if it was deleted, or donated to a call."""
        return self.ref is None

    def wait(self) -> None:
        """Wait until the elements have been computed. Raises RuntimeError if it was deleted, or
        what went wrong in the call that computes it.
        """
        if type(pending := self.ref) is Pending:
            self.ref = pending.outcome()
        if self.ref is None:
            raise RuntimeError(
                f"{TensorType(self.dtype, self.shape)} was used after its memory had been given "
                "up: it was deleted or donated to a call (donate_argnums), which takes its "
                "memory; use the call's result, or give it a copy"
            )

    def is_ready(self) -> bool:
        """Return True if the elements have been computed, or have failed to be."""
        return type(pending := self.ref) is not Pending or pending.call is None

    def snapshot(self) -> IreeBuffer:
        """Return the same array for a call in flight, whatever becomes of this one."""
        if self.ref is None:
            self.wait()
        is_own = self.is_exclusive
        taken = IreeBuffer(self.ref, self.shape, self.dtype, self.device, is_own, self.view)
        taken.is_fixed = self.is_fixed
        return taken


def keep_addresses(donated: Sequence[IreeBuffer], results: Sequence[IreeBuffer]) -> None:
    """Put results of a call where those of the buffers are that it was donated whose addresses were
    asked for. Each buffer is for the first result of its type that no other one is for.
    """
    free = list(results)
    for buffer in donated:
        result = next((r for r in free if (r.shape, r.dtype) == (buffer.shape, buffer.dtype)), None)
        if result is None:
            continue
        free.remove(result)
        if not (buffer.is_fixed and buffer.is_exclusive) or buffer.is_deleted():
            continue
        place = buffer.place
        if not any(_overlap(place, r.place) for r in results):
            result.move_to(buffer)
        result.is_fixed = result.place == place


def _overlap(x: range, y: range) -> bool:
    return x.start < y.stop and y.start < x.stop


def elements(reference: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The elements of IREE's view of a buffer, as a read-only array that keeps the memory."""
    mapped = memoryview(reference.deref(rt.HalBufferView).map())
    return np.ndarray(shape, dtype, mapped.toreadonly())


class ArgumentLists:
    """Makes lists of arguments of programs, for a device of IREE's."""

    def __init__(self, device: Any) -> None:
        self._packer = ArgumentPacker(_invoke_statics)
        self._context = InvokeContext(device)

    def packed(self, arguments: Sequence[Any]) -> Any:
        """Return IREE's list of a call's arguments; None if one is being computed. To pack views
        takes a third of the time that references take. So buffers that are used more than once get
        one.
        """
        views = [x.view for x in arguments]
        if all(views):
            return self._packer.pack(self._context, views, {})
        for argument in arguments:
            if argument.view is None:
                argument.view = False
            elif argument.ref is not None and type(argument.ref) is not Pending:
                argument.view = argument.ref.deref(rt.HalBufferView)
        return pushed(arguments)


def pushed(arguments: Sequence[Any]) -> Any:
    """Return IREE's list of a call's arguments; None if one is being computed."""
    made = rt.VmVariantList(len(arguments))
    try:
        for argument in arguments:
            made.push_ref(argument.ref)
    except (TypeError, AttributeError):  # as it is deleted, or being computed
        if not all(x.is_ready() for x in arguments):
            return None
        was_pending = any(type(x.ref) is Pending for x in arguments)
        for argument in arguments:
            argument.wait()
        if not was_pending:
            raise
        return pushed(arguments)
    return made
