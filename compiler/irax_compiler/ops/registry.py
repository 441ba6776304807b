"""The registry of ops: from names of operations to what reads them, and to their traits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from irax_compiler import extensions
from irax_compiler.interchange import other_forms
from irax_compiler.mlir import Operation
from irax_compiler.ops.core import Op, Recomputation, UnsupportedOp, plain_name

_READERS: dict[str, Callable[[Operation], Op]] = {}
_TRAITS: dict[str, Op | type[Op]] = {}
_NAMED: dict[tuple[type[Op], ...], tuple[str, ...]] = {}
"""The names of the ops of some classes, as far as somebody asked since the last one was added."""
C = TypeVar("C", bound=type[Op])
AnyOp = TypeVar("AnyOp", bound=Op)


def register_class(cls: C) -> C:
    """Class decorator: operations of this name in the IR are read by this class."""
    _READERS[cls.name] = cls.read
    _TRAITS[cls.name] = cls
    _NAMED.clear()
    return cls


def register(op: AnyOp) -> AnyOp:
    """Registers an op without parameters: operations of its name are read as this very object."""
    _READERS[op.name] = lambda operation: op
    _TRAITS[op.name] = op
    _NAMED.clear()
    return op


def register_names(names: Iterable[str], cls: type[Op]) -> None:
    """Registers one class for operations of several names."""
    for name in names:
        _READERS[name] = cls.read
        _TRAITS[name] = cls
    _NAMED.clear()


def unregister(name: str) -> None:
    """Forgets the ops of a name."""
    del _READERS[name], _TRAITS[name]
    _NAMED.clear()


def registered_names() -> list[str]:
    """The names of all ops irax knows, sorted."""
    extensions.load("irax.ops")
    return sorted(_READERS)


def is_known(name: str) -> bool:
    """Return True if irax, or a package that extends it, knows the operations of a name."""
    names = {name, plain_name(name)}
    if names.isdisjoint(_READERS):
        extensions.load("irax.ops")
    return not names.isdisjoint(_READERS)


def all_traits() -> Mapping[str, Op | type[Op]]:
    """Return what has the traits of the operations of each name, as far as they are loaded."""
    return _TRAITS


def names_of(classes: tuple[type[Op], ...]) -> tuple[str, ...]:
    """The names of the registered ops without parameters that are of some classes."""
    found = _NAMED.get(classes)
    if found is None:
        found = tuple(name for name, op in _TRAITS.items() if isinstance(op, classes))
        _NAMED[classes] = found
    return found


def traits_of(operation: Operation) -> Op | type[Op]:
    """The op that an operation is, or the class of it where it has parameters: both have the
    traits of its name. The base of all ops, of safe traits, for operations that irax does not know.
    """
    return traits_named(operation.name)


def traits_named(name: str) -> Op | type[Op]:
    """Return the op that has the traits of the operations of a name."""
    return _TRAITS.get(name) or _TRAITS.get(plain_name(name), Op)


def folds_in_any_order(operation: Operation) -> bool:
    """True if an operation of two operands is associative and commutative with an identity, so that
    many operands can be combined in any order.
    """
    traits = traits_of(operation)
    return traits.commutative and traits.identity is not None


def computed(operation: Operation) -> int:
    """Return the number of operations in the computation of a reduction, a scatter or a map."""
    return len(operation.regions[0].blocks[0].operations) - 1


def is_generated(operation: Operation) -> bool:
    """True if a kernel computes an operation's result in place from no operands, as for constants
    and iotas.
    """
    return traits_of(operation).recomputation is Recomputation.FREE and not len(operation.operands)


def read(operation: Operation) -> Op:
    """The op that an operation in the IR is. Raises UnsupportedOp for one irax does not know."""
    name = operation.name
    if name not in _READERS:
        name = plain_name(name)
    if name not in _READERS:
        extensions.load("irax.ops")
    if name not in _READERS:
        raise unknown(operation)
    return _READERS[name](operation)


def may_be(operation: Operation, kind: type[Op]) -> bool:
    """Return False for an operation that is no op of a kind, as its name tells. To read one takes
    long if it has a computation inside.
    """
    traits = _TRAITS.get(operation.name)
    if not isinstance(traits, type) or traits.read.__func__ is not _OF_FIELDS:
        return True  # what it is read as may be of another class
    return issubclass(traits, kind)


_OF_FIELDS = Op.read.__func__
"""The reader of ops whose parameters are their fields, of the class that their name has."""

_REASONS = {
    **dict.fromkeys(
        [
            *("all_gather", "all_reduce", "all_to_all", "collective_broadcast"),
            *("collective_permute", "collective_reduce", "partition_id", "reduce_scatter"),
            *("replica_id", "async_start", "async_done"),
        ],
        "the module is a program for several devices; export the function without it (in JAX: "
        "without shard_map)",
    ),
    **dict.fromkeys(
        [
            *("dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota"),
            *("dynamic_pad", "dynamic_reshape", "get_dimension_size", "real_dynamic_slice"),
            "set_dimension_size",
        ],
        "it is of dynamic shape, with sizes that are not constants; expected static shapes (export "
        "the function for arguments of fixed shapes)",
    ),
    **dict.fromkeys(
        ("infeed", "outfeed", "recv", "send"),
        "it exchanges arrays with the host while the program runs; expected arguments and results",
    ),
}


def unknown(operation: Operation) -> UnsupportedOp:
    """The error for an operation that irax does not know."""
    reason = _REASONS.get(operation.name.removeprefix("stablehlo.")) or other_forms.cure(
        operation.name
    )
    why = f": {reason}" if reason else ""
    return UnsupportedOp(f"{operation.name} at {operation.location} is not supported{why}")
