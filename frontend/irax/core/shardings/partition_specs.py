"""Partition specs: for each dimension of an array, the axes of a mesh along which it is divided."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self


class _Unconstrained:
    """The entry of a dimension that may be divided in any way."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


class _Infer:
    def __repr__(self) -> str:
        return "irax.sharding.Infer"

    def __reduce__(self) -> str:
        return "Infer"


Infer: _Infer = _Infer()
"""Stands for specs that follow from the shardings of the arguments."""


class UnreducedKind(enum.Enum):
    """The operation that is still to be taken along the unreduced axes of a spec. Programs take
    sums; of the others there are specs alone.
    """

    sum = enum.auto()
    max = enum.auto()
    min = enum.auto()


class PartitionSpec:
    """The division of an array's dimensions along the axes of a mesh, an entry for each dimension.

    Args:
        partitions: for each dimension None, the name of an axis, or a tuple of names, the first of
            which is the slowest. Dimensions without an entry are not divided, so specs that differ
            in Nones at the end are equal.
        unreduced: axes of the mesh along which sums are still to be taken.
        reduced: axes along which derivatives are still to be summed.
        unreduced_kind: what is taken along the unreduced axes, an `UnreducedKind`; by default sums.

    Raises:
        TypeError: `unreduced` or `reduced` is no set, or `unreduced_kind` is of another type.
        ValueError: an axis is in several of the three, or None is one, or a tuple is in another,
            or there is an `unreduced_kind` without unreduced axes.

    >>> irax.P("data", None, ("model", "expert"))
    P('data', None, ('model', 'expert'))
    """

    __slots__ = ("_partitions", "reduced", "unreduced", "unreduced_kind")
    UNCONSTRAINED = UNCONSTRAINED

    reduced: frozenset[Any]
    unreduced: frozenset[Any]
    unreduced_kind: UnreducedKind | None

    def __new__(
        cls,
        *partitions: Any,
        unreduced: Iterable[Any] = (),
        reduced: Iterable[Any] = (),
        unreduced_kind: UnreducedKind | None = None,
    ) -> Self:
        self = super().__new__(cls)
        for name, axes in (("unreduced", unreduced), ("reduced", reduced)):
            if not isinstance(axes, set | frozenset | tuple) or (isinstance(axes, tuple) and axes):
                raise TypeError(f"PartitionSpec: expected a set of axes for {name}, got {axes!r}")
            if None in axes:
                raise ValueError(f"PartitionSpec: None is no axis of a mesh, got {name}={axes!r}")
        self._set(tuple(map(_canonical, partitions)), frozenset(unreduced), frozenset(reduced))
        kind = kind_of_unreduced("PartitionSpec", self.unreduced, unreduced_kind)
        object.__setattr__(self, "unreduced_kind", kind)
        return self

    def _set(
        self, partitions: tuple[Any, ...], unreduced: frozenset[Any], reduced: frozenset[Any]
    ) -> None:
        object.__setattr__(self, "_partitions", partitions)
        object.__setattr__(self, "unreduced", unreduced)
        object.__setattr__(self, "reduced", reduced)
        dividing = {axis for entry in partitions for axis in axes_of_entry(entry)}
        for one, other in ((unreduced, reduced), (unreduced, dividing), (reduced, dividing)):
            if both := one & other:
                raise ValueError(
                    f"PartitionSpec: an axis of the mesh divides a dimension, is unreduced, or is "
                    f"reduced; {sorted(map(str, both))} in P{partitions} is two of these"
                )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a PartitionSpec does not change: use .update({name}=...)")

    @property
    def partitions(self) -> tuple[Any, ...]:
        """The entries."""
        return self._partitions

    def update(
        self,
        partitions: Sequence[Any] | None = None,
        unreduced: Any = None,
        reduced: Any = None,
        **kind: UnreducedKind | None,
    ) -> PartitionSpec:
        """Return a copy with other entries or axes.

        >>> irax.P("data").update(partitions=("model", None))
        P('model', None)
        """
        own = self.unreduced if unreduced is None else unreduced
        return PartitionSpec(
            *(self._partitions if partitions is None else partitions),
            unreduced=own,
            reduced=self.reduced if reduced is None else reduced,
            **({"unreduced_kind": self.unreduced_kind if own else None} | kind),
        )

    def to_tangent_spec(self) -> PartitionSpec:
        """Return the spec of tangents: the same."""
        return self

    def to_ct_spec(self) -> PartitionSpec:
        """Return the spec of cotangents: whole where sums are still to be taken, and the other way
        round.

        >>> irax.P("data", unreduced={"model"}).to_ct_spec()
        P('data', reduced={'model'})

        Raises:
            ValueError: what is still to be taken are no sums.
        """
        if self.unreduced_kind not in (None, UnreducedKind.sum):
            raise ValueError(f"to_ct_spec: cotangents are those of sums, got {self!r}")
        kind = UnreducedKind.sum if self.reduced else None
        return self.update(unreduced=self.reduced, reduced=self.unreduced, unreduced_kind=kind)

    def index(self, value: Any) -> int:
        """Return the place of an entry."""
        return self._partitions.index(_canonical(value))

    def count(self, value: Any) -> int:
        """Return how often an entry is there."""
        return self._partitions.count(_canonical(value))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._partitions)

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, index: Any) -> Any:
        return self._partitions[index]

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            kinds = {self.unreduced_kind, other.unreduced_kind} - {None}
            if len(kinds) > 1:
                raise TypeError(f"{self!r} and {other!r} have two kinds of unreduced axes")
            return PartitionSpec(
                *self,
                *other,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
                unreduced_kind=next(iter(kinds), None),
            )
        return PartitionSpec(*self, *other) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*other, *self) if isinstance(other, tuple) else NotImplemented

    def _key(self) -> tuple[Any, ...]:
        """All that it says: Nones at the end say nothing."""
        count = len(self._partitions)
        while count and self._partitions[count - 1] is None:
            count -= 1
        return self._partitions[:count], self.unreduced, self.reduced, self.unreduced_kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        told = {"unreduced": self.unreduced, "reduced": self.reduced}
        kind = {} if self.unreduced_kind is None else {"unreduced_kind": self.unreduced_kind}
        return self._partitions, told | kind

    def __getstate__(self) -> None:
        """Nothing is left to pickle."""

    def __repr__(self) -> str:
        entries = repr(self._partitions)[1:-1]
        sets = [("unreduced", self.unreduced), ("reduced", self.reduced)]
        texts = [f"{name}={set(axes)!r}" for name, axes in sets if axes]
        if self.unreduced_kind is not None:
            texts.insert(1, f"unreduced_kind={self.unreduced_kind.name}")
        if entries and texts:
            entries = entries.removesuffix(",") + ", "
        return f"P({entries}{', '.join(texts)})"


P = PartitionSpec


def kind_of_unreduced(
    what: str, axes: frozenset[Any], kind: UnreducedKind | None
) -> UnreducedKind | None:
    """Return what is taken along unreduced axes: sums by default, None where there are none."""
    if kind is not None and not isinstance(kind, UnreducedKind):
        raise TypeError(
            f"{what}: unreduced_kind must be an UnreducedKind, got {kind!r} of type "
            f"{type(kind).__name__}"
        )
    if kind is not None and not axes:
        raise ValueError(
            f"{what}: expected unreduced axes for unreduced_kind={kind!r}, and there are none"
        )
    return UnreducedKind.sum if axes and kind is None else kind


def _canonical(entry: Any) -> Any:
    """An entry: a name instead of a tuple of one, and None instead of an empty one."""
    if isinstance(entry, list | tuple):
        if any(isinstance(axis, list | tuple) for axis in entry):
            raise ValueError(f"PartitionSpec: expected names of axes in a tuple, got {entry!r}")
        return (entry[0] if len(entry) == 1 else tuple(entry)) if len(entry) else None
    return entry


def axes_of_entry(entry: Any) -> tuple[Any, ...]:
    """Return the axes along which an entry divides a dimension.

    >>> axes_of_entry("data"), axes_of_entry(None)
    (('data',), ())
    """
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def axes_by_dimension(spec: PartitionSpec, rank: int) -> tuple[tuple[Any, ...], ...]:
    """Return the axes along which each of `rank` dimensions is divided."""
    given = tuple(map(axes_of_entry, spec.partitions))
    return (*given, *((),) * (rank - len(given)))
