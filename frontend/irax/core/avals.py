"""Abstract values: what is known of an array without its elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.dtypes import kinds
from irax.core.shardings.axis_names import text_of
from irax.core.shardings.layouts import sharding_of_format
from irax.core.shardings.memory_spaces import Space, space_of
from irax.core.shardings.meshes import AbstractMesh, get_abstract_mesh
from irax.core.shardings.partition_specs import (
    PartitionSpec,
    UnreducedKind,
    axes_of_entry,
    kind_of_unreduced,
)
from irax.core.shardings.shardings import NamedSharding, Sharding, as_sharding
from irax_compiler.ops.sums import WHOLE, Sums
from irax_runtime.device import MEMORY_KIND


@dataclass(frozen=True, kw_only=True)
class ManualAxisType:
    """The relation of the values that devices have of an array along manual axes of a mesh.

    >>> irax.sharding.ManualAxisType(varying=frozenset({"data"})).varying
    frozenset({'data'})
    """

    varying: frozenset[Any] = frozenset()
    """The axes along which they may differ."""
    unreduced: frozenset[Any] = frozenset()
    """The axes along which they are still to be summed."""
    reduced: frozenset[Any] = frozenset()
    """The axes along which those of cotangents are still to be summed."""
    unreduced_kind: UnreducedKind | None = None
    """The operation that is still to be taken along the unreduced axes: sums by default, None where
    there are none.
    """

    @property
    def empty(self) -> bool:
        """True if it says nothing of any axis."""
        return not (self.varying or self.unreduced or self.reduced)

    @property
    def vur(self) -> frozenset[Any]:
        """All axes of which it says something."""
        return self.varying | self.unreduced | self.reduced

    def invarying(self, mesh: Any) -> frozenset[Any]:
        """Return the manual axes of a mesh along which the values are the same."""
        return frozenset(mesh.manual_axes) - self.vur

    def update(self, **changed: Any) -> ManualAxisType:
        """Return a copy with other axes."""
        axes = {k: frozenset(v) for k, v in changed.items() if k != "unreduced_kind"}
        return replace(self, **({"unreduced_kind": None} | changed | axes))

    def to_ct_mat(self) -> ManualAxisType:
        """Return the type of cotangents: where values are still to be summed, they are whole, and
        the other way round.
        """
        return self.update(unreduced=self.reduced, reduced=self.unreduced)

    def __post_init__(self) -> None:
        kind = kind_of_unreduced("ManualAxisType", self.unreduced, self.unreduced_kind)
        object.__setattr__(self, "unreduced_kind", kind)
        for name in ("unreduced", "reduced"):
            if both := self.varying & getattr(self, name):
                raise ValueError(
                    f"ManualAxisType: expected varying and {name} without a common axis, got "
                    f"{sorted(map(str, both))} in both"
                )


@dataclass(frozen=True, init=False)
class ShapedArray:
    """The shape and dtype of an array, and whether its dtype gives way to other operands'.

    >>> ShapedArray((2, 3), np.dtype("float32"))
    float32[2,3]
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool
    vma: frozenset[str]
    """The manual axes of meshes along which the array may differ between devices."""
    memory_kind: str
    """The memory of a device that the elements are in."""
    sums: Sums
    """The axes of the mesh along which sums are still to be taken (`irax_compiler.ops.sums`)."""
    told: NamedSharding | None = field(compare=False, repr=False)
    """The explicit axes of the mesh of the context along which it is divided; None says nothing of
    it."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        weak_type: bool = False,
        sharding: NamedSharding | None = None,
        vma: frozenset[str] = frozenset(),
        memory_kind: str = MEMORY_KIND,
        *,
        memory_space: Space | None = None,
        sums: Sums | None = None,
    ) -> None:
        """`memory_space` is JAX's way of telling the memory; `sums` are by default those that the
        sharding tells.
        """
        if memory_space is not None:
            memory_kind = memory_space.kind
        if not isinstance(dtype, np.dtype | dtypes.KeyType):
            is_python = dtype in (bool, int, float, complex)
            dtype = kinds.canonicalize_dtype(dtype) if is_python else kinds.as_dtype(dtype)
        own = self.__dict__  # set in this way, since the fields are frozen
        own["shape"] = shape = shape if type(shape) is tuple else tuple(shape)
        own["dtype"], own["weak_type"], own["vma"] = dtype, weak_type, vma
        own["memory_kind"] = memory_kind
        if sharding is None:
            own["told"], own["sums"] = None, sums or WHOLE
        else:
            own["sums"] = sums = sums_of(sharding.spec) if sums is None else sums
            own["told"] = sharding if sums == sums_of(sharding.spec) else with_sums(sharding, sums)
        # looked up in every call of a function outside of traces, and of a jitted one
        own["_hash"] = hash((shape, dtype, weak_type, vma))

    def __reduce__(self) -> Any:
        return partial(ShapedArray, weak_type=self.weak_type), (self.shape, self.dtype)

    def __hash__(self) -> int:
        return self._hash  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def sharding(self) -> NamedSharding:
        """The division along explicit axes of the mesh of the context: that of a whole array where
        nothing is told.
        """
        if self.told is not None:
            return self.told
        whole = _whole(get_abstract_mesh(), self.ndim)
        return with_sums(whole, self.sums) if self.sums != WHOLE else whole

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """The manual axes of meshes along which the array may differ between devices."""
        return ManualAxisType(varying=self.vma)

    mat = manual_axis_type

    @property
    def memory_space(self) -> Space:
        """The space of that memory."""
        return space_of(self.memory_kind)

    @property
    def is_inexact(self) -> bool:
        """True if the elements are floating-point or complex numbers."""
        return dtypes.issubdtype(self.dtype, np.inexact)

    def update(self, **changed: Any) -> ShapedArray:
        """Return a copy with some fields changed.

        >>> ShapedArray((2, 3), np.dtype("float32")).update(shape=(2,))
        float32[2]
        """
        names = ("shape", "dtype", "weak_type", "vma", "memory_kind", "sums")
        fields: dict[str, Any] = {name: getattr(self, name) for name in names}
        return ShapedArray(**{**fields, "sharding": self.told, **changed})

    def in_memory(self, kind: str) -> ShapedArray:
        """Return the type of the array in a memory."""
        return self if kind == self.memory_kind else self.update(memory_kind=kind)

    def placed(self, kind: str, sums: Sums) -> ShapedArray:
        """Return the type of the array in a memory, with sums that are still to be taken."""
        found = self.in_memory(kind)
        return found if sums == self.sums else found.update(sums=sums)

    def strip_weak_type(self) -> ShapedArray:
        """Return a copy that is not weakly typed."""
        return self.update(weak_type=False)

    def at_least_vspace(self) -> ShapedArray:
        """Return the type of a tangent: another name of `to_tangent_aval`."""
        return self.to_tangent_aval()

    def to_tangent_aval(self) -> ShapedArray:
        """Return the type of tangents, whose dtype is float0 for integers and booleans."""
        dtype = self.dtype if self.is_inexact else dtypes.float0
        return ShapedArray(self.shape, dtype, memory_kind=self.memory_kind)

    def lo_ty(self) -> list[ShapedArray]:
        """Return the types of the arrays that an array holds: of itself (see `hi_values`)."""
        return [self]

    def lower_val(self, x: Any) -> list[Any]:
        """Return the arrays that an array holds."""
        return [x]

    def raise_val(self, x: Any) -> Any:
        """Return the array that holds an array."""
        return x

    def str_short(self, short_dtypes: bool = False) -> str:
        """Return the type as jaxprs show it.

        >>> ShapedArray((2, 3), np.dtype("float32")).str_short(short_dtypes=True)
        'f32[2,3]'
        """
        name = _short_name(self.dtype.name) if short_dtypes else self.dtype.name
        return f"{name}{self._space()}[{','.join(map(str, self.shape))}]"

    def _space(self) -> str:
        return "<host>" if self.memory_space is Space.Host else ""

    def varying_along(self, axes: frozenset[str]) -> ShapedArray:
        """Return the type of the array as one that may differ along further axes."""
        if axes <= self.vma:
            return self
        return self.update(sharding=None, vma=self.vma | axes)

    def of_shape(self, shape: tuple[int, ...]) -> ShapedArray:
        """Return the type of an array of another shape."""
        return self.update(shape=shape, sharding=None)

    def _dimension(self, number: int) -> str:
        """The extent of a dimension, and the axes along which it is divided."""
        entries = () if self.told is None else tuple(self.told.spec)
        axes = entries[number] if number < len(entries) else None
        if axes is None:
            return str(self.shape[number])
        text = f"({','.join(map(str, axes))})" if isinstance(axes, tuple) else axes
        return f"{self.shape[number]}@{text}"

    def __str__(self) -> str:
        dimensions = ",".join(map(self._dimension, range(self.ndim)))
        kinds = (("V", self.vma), ("U", self.sums.unreduced), ("R", self.sums.reduced))
        axes = ", ".join(f"{kind}:{_axes_text(axes)}" for kind, axes in kinds if axes)
        varying = f"{{{axes}}}" if axes else ""
        weak = " (weak)" if self.weak_type else ""
        return f"{self.dtype.name}{self._space()}[{dimensions}]{varying}{weak}"

    __repr__ = __str__


def _short_name(name: str) -> str:
    """Return `f32` for float32, and so on."""
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("complex", "c")):
        if name.startswith(long) and name != "float0":
            return short + name.removeprefix(long)
    return name.replace("int", "i") if name.startswith("int") else name


def _axes_text(axes: frozenset[str]) -> str:
    return ",".join(sorted(axes)) if len(axes) == 1 else f"({','.join(sorted(axes))})"


def sums_of(spec: PartitionSpec) -> Sums:
    """Return the sums that a spec tells as still to be taken."""
    if not (spec.unreduced or spec.reduced):
        return WHOLE
    return Sums(frozenset(map(text_of, spec.unreduced)), frozenset(map(text_of, spec.reduced)))


def with_sums(sharding: NamedSharding, sums: Sums) -> NamedSharding:
    """Return a sharding with sums that are still to be taken, as far as along axes that divide no
    dimension.
    """
    return _with_sums(sharding, len(sharding.spec), sums)


@lru_cache(maxsize=256)
def _with_sums(sharding: NamedSharding, rank: int, sums: Sums) -> NamedSharding:
    """Do that; `rank` tells shardings apart that are equal but for Nones at the end."""
    spec = sharding.spec
    dividing = {axis for entry in spec.partitions for axis in axes_of_entry(entry)}
    free = [axis for axis in sharding.mesh.explicit_axes if axis not in dividing]
    unreduced, reduced = ({a for a in free if text_of(a) in axes} for axes in sums)
    spec = PartitionSpec(*spec.partitions, unreduced=unreduced, reduced=reduced)
    return sharding.update(spec=spec)


@lru_cache(maxsize=256)
def _whole(mesh: AbstractMesh, rank: int) -> NamedSharding:
    """The sharding of an array that is not divided."""
    return NamedSharding(mesh, PartitionSpec(*(None,) * rank))


aval_of_array: Callable[..., ShapedArray] = lru_cache(maxsize=4096)(ShapedArray)
"""Return the one `ShapedArray` of these fields: equal avals are the same object, fast
to compare."""

aval_placed: Callable[[ShapedArray, str, Sums], ShapedArray] = lru_cache(maxsize=4096)(
    ShapedArray.placed
)
"""Return the one `ShapedArray` in a memory, with sums still to be taken, of an aval that tells no
layout."""


class ShapeDtypeStruct:
    """Stands for an array in `eval_shape`, `make_ir` and the like: a shape and a dtype.

    >>> ShapeDtypeStruct((8, 784), "float32").shape
    (8, 784)
    """

    _FIELDS = ("shape", "dtype", "sharding", "weak_type")

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        manual_axis_type: ManualAxisType | None = None,
        is_ref: bool = False,
    ) -> None:
        """`sharding` is where such an array is: a sharding, or a `PartitionSpec` for the context's
        mesh; None says nothing of that. `manual_axis_type` is accepted and says nothing. A dtype
        that arrays cannot have, such as that of bytes, is kept: such a struct describes what others
        hold.
        """
        if is_ref:
            raise NotImplementedError(
                "ShapeDtypeStruct: is_ref=True is not supported: pass the Ref, or its elements"
            )
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: expected a dtype, got None")
        if not isinstance(shape, Iterable):
            raise TypeError(
                f"ShapeDtypeStruct: shape must be a tuple of ints, got {shape!r}: ({shape!r},) has "
                "one dimension"
            )
        self.shape: tuple[int, ...] = tuple(shape)
        if None in self.shape:
            raise ValueError(
                f"ShapeDtypeStruct: shape has no None, got {self.shape}: a size that is not known "
                "is a symbolic one: irax.export.symbolic_shape"
            )
        self.sharding: Sharding | None = None
        sharding = sharding_of_format("ShapeDtypeStruct", sharding, self.shape)
        if sharding is not None:
            if not isinstance(sharding, Sharding | PartitionSpec):
                raise ValueError(
                    "ShapeDtypeStruct: sharding must be a sharding or a PartitionSpec, got "
                    f"{sharding!r}"
                )
            self.sharding = as_sharding("ShapeDtypeStruct", sharding)
            self.sharding.parts(self.ndim)  # which checks the number of dimensions
        self.dtype: np.dtype[Any] = kinds.as_dtype(dtype)
        self.weak_type = weak_type

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """Return the struct of an array, a number, or any object with a shape and a dtype. It says
        where the array was put.

        >>> ShapeDtypeStruct.like(np.zeros(2, "float32"))
        ShapeDtypeStruct(shape=(2,), dtype=float32)
        """
        if isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic):
            dtype = kinds.canonicalize_dtype(np.dtype(type(x)))
            return cls((), dtype, weak_type=not isinstance(x, bool))
        told = getattr(getattr(x, "aval", None), "told", None)
        is_put = getattr(x, "committed", not hasattr(x, "aval"))
        sharding = getattr(x, "sharding", None) if is_put else told
        dtype = x.dtype
        if isinstance(x, np.ndarray | np.generic):  # as an array of it has
            dtype = kinds.canonicalize_dtype(dtype)
        return cls(x.shape, dtype, sharding=sharding, weak_type=getattr(x, "weak_type", False))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def update(self, **changed: Any) -> ShapeDtypeStruct:
        """Return a copy with some of `shape`, `dtype`, `sharding` and `weak_type` changed.

        >>> ShapeDtypeStruct((8, 784), "float32").update(shape=(8,))
        ShapeDtypeStruct(shape=(8,), dtype=float32)
        """
        fields = {name: getattr(self, name) for name in self._FIELDS}
        return ShapeDtypeStruct(**fields | changed)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a ShapeDtypeStruct of shape ()")
        return self.shape[0]

    def __repr__(self) -> str:
        placed = f", sharding={self.sharding}" if self.sharding is not None else ""
        weak = ", weak_type=True" * self.weak_type
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{placed}{weak})"

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """The fields in the form of JAX, whose class has slots."""
        told = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        of_jax = {"_sharding": self.sharding, "_dll": None, "manual_axis_type": None}
        return None, {**told, **of_jax, "is_ref": False}

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        fields = state[1]
        self.shape, self.dtype = fields["shape"], fields["dtype"]
        self.sharding, self.weak_type = fields["_sharding"], fields["weak_type"]

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._FIELDS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class AbstractRef:
    """The type of a mutable array: that of its elements.

    >>> irax.typeof(irax.new_ref(irax.numpy.zeros(2)))
    Ref{float32[2]}
    """

    inner_aval: ShapedArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return self.inner_aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.inner_aval.dtype

    @property
    def sharding(self) -> NamedSharding:
        """The division of the elements among devices."""
        return self.inner_aval.sharding

    def str_short(self, short_dtypes: bool = False) -> str:
        """Return the type as jaxprs show it."""
        return f"Ref{{{self.inner_aval.str_short(short_dtypes)}}}"

    def __repr__(self) -> str:
        return f"Ref{{{self.inner_aval.update(weak_type=False)}}}"
