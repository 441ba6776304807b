"""Arrays: the type users see, and arrays that have their elements.

`Array` is what `isinstance` asks for; a `ConcreteArray` has elements, in NumPy memory or in a
device's buffer; a `Tracer` (see `tracing`) stands for one in a function being traced. Operators and
methods are attached in `irax.numpy`, once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core import absent_members, transfer_guards
from irax.core.avals import ShapedArray, ShapeDtypeStruct, aval_of_array, aval_placed, sums_of
from irax.core.dtypes.kinds import available_dtype, canonical
from irax.core.shardings.mesh_devices import aval_in
from irax.core.shardings.shardings import NamedSharding
from irax_compiler.ops.sums import WHOLE, Sums
from irax_runtime.device import MEMORY_KIND
from irax_runtime.memory import own_copy
from irax_runtime.mesh import MeshDevice, devices_of, moved

if TYPE_CHECKING:
    from irax_runtime.device import Buffer, Device


_new: Any = object.__new__


class Array:
    """An immutable array of numbers: `x.at[i].set(v)` makes a changed copy.

    Made by functions (`irax.numpy.array`, `irax.numpy.zeros`, ...), not by calling this class.
    """

    __slots__ = ("__weakref__",)
    # NumPy's operators leave `ndarray + Array` to us.
    __array_priority__ = 100
    __hash__: Any = None

    aval: ShapedArray
    """Its shape, dtype and weak type."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(absent_members.told(name), name=name, obj=self)

    def with_weak_type(self, weak_type: bool) -> Array:
        """Return this array with another weak type."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        """True if the dtype gives way to that of other operands, as a Python scalar's does."""
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    if TYPE_CHECKING:
        # Attached by irax.numpy.array_methods; every operator and method of NumPy's arrays.
        def __array__(self, dtype: Any = ..., copy: bool | None = ...) -> np.ndarray[Any, Any]: ...
        def __buffer__(self, flags: int, /) -> memoryview: ...
        def __getitem__(self, index: Any) -> Array: ...
        def __iter__(self) -> Any: ...
        def __len__(self) -> int: ...
        def __neg__(self) -> Array: ...
        def __abs__(self) -> Array: ...
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __add__(self, other: Any) -> Array: ...
        def __radd__(self, other: Any) -> Array: ...
        def __sub__(self, other: Any) -> Array: ...
        def __rsub__(self, other: Any) -> Array: ...
        def __mul__(self, other: Any) -> Array: ...
        def __rmul__(self, other: Any) -> Array: ...
        def __truediv__(self, other: Any) -> Array: ...
        def __rtruediv__(self, other: Any) -> Array: ...
        def __pow__(self, other: Any) -> Array: ...
        def __matmul__(self, other: Any) -> Array: ...
        def __mod__(self, other: Any) -> Array: ...
        def __and__(self, other: Any) -> Array: ...
        def __or__(self, other: Any) -> Array: ...
        def __xor__(self, other: Any) -> Array: ...
        def __invert__(self) -> Array: ...
        def __lshift__(self, other: Any) -> Array: ...
        def __rshift__(self, other: Any) -> Array: ...
        def __eq__(self, other: object) -> Array: ...
        def __ne__(self, other: object) -> Array: ...
        def __lt__(self, other: Any) -> Array: ...
        def __le__(self, other: Any) -> Array: ...
        def __gt__(self, other: Any) -> Array: ...
        def __ge__(self, other: Any) -> Array: ...


class ConcreteArray(Array):
    """An array with elements, held in NumPy memory, in a device's buffer, or in both."""

    __slots__ = ("_buffer", "_numpy", "aval", "committed")

    def __init__(
        self,
        elements: np.ndarray[Any, Any] | None,
        weak_type: bool = False,
        buffer: Buffer | None = None,
        committed: bool = False,
    ) -> None:
        """Take over the memory of `elements`: nobody may write to it any more."""
        holder = elements if elements is not None else buffer
        assert holder is not None
        self._numpy = elements
        self._buffer = buffer
        self.committed: bool = committed
        """True if programs that use the array run on its device; otherwise it is copied
        to theirs."""
        aval = aval_of_array(tuple(holder.shape), holder.dtype, weak_type)
        self.aval: ShapedArray = aval if buffer is None else aval_in(aval, buffer)

    def in_memory(self, kind: str) -> ConcreteArray:
        """Return this array, which is on a device, in one of its memories. On the processor these
        are the same, so the elements stay where they are.
        """
        if kind == self.aval.memory_kind:
            return self
        return self._of_type(aval_placed(self.aval, kind, self.aval.sums))

    def with_sums(self, sums: Sums) -> ConcreteArray:
        """Return this array, which is on a mesh, as one whose type tells sums still to be taken."""
        if sums == self.aval.sums:
            return self
        return self._of_type(aval_placed(self.aval, self.aval.memory_kind, sums))

    def _of_type(self, aval: ShapedArray) -> ConcreteArray:
        assert self._buffer is not None
        return ConcreteArray.of_buffer(self._buffer, aval, self.committed)

    @staticmethod
    def of_buffer(buffer: Buffer, aval: ShapedArray, committed: bool = False) -> ConcreteArray:
        """An array whose elements a program has left in a buffer."""
        array = _new(ConcreteArray)
        array._numpy, array._buffer, array.committed = None, buffer, committed
        array.aval = aval_in(aval, buffer)
        return array

    @staticmethod
    def of_buffers(
        buffers: Sequence[Buffer], avals: Sequence[ShapedArray], committed: bool = False
    ) -> list[ConcreteArray]:
        """Several such arrays: the results of a call."""
        arrays: list[ConcreteArray] = []
        for buffer, aval in zip(buffers, avals):  # noqa: B905 (of equal lengths)
            array = _new(ConcreteArray)
            array._numpy, array._buffer, array.committed = None, buffer, committed
            array.aval = aval_in(aval, buffer)
            arrays.append(array)
        return arrays

    def with_weak_type(self, weak_type: bool) -> Array:
        array = ConcreteArray(self._numpy, weak_type, self._buffer, self.committed)
        return array.in_memory(self.aval.memory_kind).with_sums(self.aval.sums)

    @property
    def value(self) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array that nobody may write to."""
        if self._numpy is None:
            assert self._buffer is not None
            if config.guards_transfers and "cpu" not in self._buffer.device.platform:
                transfer_guards.check("device_to_host", f"an array of type {self.aval}")
            self._numpy = self._buffer.numpy()
        return self._numpy

    @property
    def contiguous(self) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array in row-major order without gaps, for those who read memory.
        The array keeps it, in place of a view.
        """
        value = self.value
        if not value.flags.c_contiguous:
            self._numpy = value = value.copy("C")
        return value

    def buffer(self, device: Device) -> Buffer:
        """The elements in a buffer of `device`; made when first asked for.

        Raises:
            ValueError: the array was put on another device.
        """
        buffer = self._buffer
        if buffer is not None and buffer.device is device:
            return buffer
        if buffer is not None and self.committed:
            if devices_of(buffer.device) != devices_of(device):
                raise ValueError(
                    f"an array of type {self.aval} on {buffer.device!r} was used on {device!r}; "
                    "move it with irax.device_put(x, ...) to the device or sharding of the others"
                )
            return moved(buffer, device)
        if isinstance(device, MeshDevice) and device.shares_memory:
            return device.of_whole(self.buffer(device.first))
        own = device.put(self.value, may_alias=True)
        if buffer is None:
            self._buffer = own
        return own

    def on(self, device: Device) -> ConcreteArray:
        """Return this array committed to a device, with its elements copied there if need be.

        Raises:
            RuntimeError: its memory was given up.
        """
        buffer = self._buffer
        if buffer is not None and buffer.is_deleted():
            buffer.wait()  # raises
        if buffer is None or buffer.device is not device:
            buffer = device.put(self.value, may_alias=True)
        aval = (
            self.aval
            if isinstance(device, MeshDevice)
            else aval_placed(self.aval, self.aval.memory_kind, WHOLE)
        )
        return ConcreteArray.of_buffer(buffer, aval, committed=True)

    def concrete(
        self, why: str, error: type[Exception], chooses: bool = False, computes: bool = False
    ) -> np.ndarray[Any, Any]:
        """The elements; for a tracer that has none, this raises `error`. `chooses` is True where
        Python is to choose by an element, as an `if` or a list does; `computes` where it is to
        compute with them.
        """
        return self.value


def device_of(arrays: Iterable[Any], what: str) -> Device | None:
    """Return the device that the committed arrays are on; None if no array is committed. Of several
    meshes of the same devices in the same order it is the first.

    Raises:
        ValueError: they are on several, or on others than those of the mesh of the context; `what`
            is the function's name in the message.
    """
    found: Device | None = None
    for array in arrays:
        if isinstance(array, ConcreteArray) and array.committed:
            device: Any = array._buffer.device  # pyright: ignore[reportOptionalMemberAccess]
            if found is None:
                found = device
            elif device is not found and devices_of(device) != devices_of(found):
                raise ValueError(
                    f"{what}: received incompatible devices: arrays on {found!r} and on {device!r} "
                    "cannot be used together; move one of them with irax.device_put(x, ...) to "
                    "the device or sharding of the other"
                )
    mesh: Any = config.mesh
    if found is not None and mesh is not None and devices_of(found) != mesh.device_tuple:
        raise ValueError(
            f"{what}: received incompatible devices: arrays on {found!r}, and the mesh of the "
            f"context is {mesh!r}; move them there with irax.device_put(x, ...), or leave "
            "the context"
        )
    return found


def as_array(x: Any, what: str = "argument", toward: Any = None) -> Array:
    """Return an array, a NumPy array or a scalar as an irax array. Lists are refused, as in JAX.

    A conversion to the dtype `toward` is to follow: what NumPy has in 64 bits, and that dtype might
    hold, is not narrowed before.

    Raises:
        TypeError: `x` is none of these; `what` is its name in the message.
        ValueError: it is a masked array of NumPy's.
    """
    if isinstance(x, Array):
        return x
    found = _made(x, what, toward)
    return found if config.given is None else config.given.carry(x, found)


def _made(x: Any, what: str, toward: Any) -> Array:
    if config.guards_transfers:
        transfer_guards.check_operand(x, what)
    if isinstance(x, np.ndarray):
        if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
            raise ValueError(
                f"{what}: irax has no arrays with a mask: give the elements behind it a value with "
                "x.filled(value)"
            )
        return ConcreteArray(own_copy(x, _dtype_before(toward, x.dtype)))
    if isinstance(x, np.generic) and _dtype_before(toward, x.dtype) == x.dtype:
        return ConcreteArray(np.asarray(x))
    if isinstance(x, bool | int | float | complex | np.generic):
        return ConcreteArray(dtypes.scalar_to_array(x), dtypes.is_weakly_typed(x))
    convert: Callable[[], Any] | None = getattr(x, "__irax_array__", None) or getattr(
        x, "__jax_array__", None
    )
    if convert is not None:
        return as_array(convert(), what, toward)
    cure = "; make an array of it by irax.numpy.array" if isinstance(x, list | tuple) else ""
    raise TypeError(
        f"{what}: expected an array or a number, got {x!r} of type {type(x).__name__}{cure}"
    )


def _dtype_before(toward: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which NumPy's elements are taken before they become others `toward`."""
    narrow = dtypes.canonicalize_dtype(dtype)
    return narrow if toward is None or toward == narrow else canonical(dtype, True)


def zeros_of(struct: ShapeDtypeStruct) -> ConcreteArray:
    """Return an array of zeros of the type that a struct tells."""
    return ConcreteArray(np.zeros(struct.shape, available_dtype(struct.dtype)), struct.weak_type)


def aval_of(x: Any, what: str = "argument") -> ShapedArray:
    """Return the abstract value of an array, a NumPy array, a scalar or a `ShapeDtypeStruct`."""
    if isinstance(x, Array):
        return x.aval
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        dtype, weak = dtypes.dtype_of(x)
        if isinstance(x, ShapeDtypeStruct):  # what it describes may be no array of irax's
            dtype = available_dtype(dtype)
        sharding = getattr(x, "sharding", None)
        kind = MEMORY_KIND if sharding is None else sharding.memory_kind
        sums = sums_of(sharding.spec) if isinstance(sharding, NamedSharding) else WHOLE
        return ShapedArray(tuple(x.shape), dtype, weak, memory_kind=kind, sums=sums)
    return as_array(x, what).aval
