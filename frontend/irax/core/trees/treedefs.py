"""Structures of pytrees as users see them: JAX's methods and texts, around optree's structures.

Inside irax structures are optree's own (`array_trees`). `irax.tree_util`, and objects that show
structures to users, wrap them.
"""

from __future__ import annotations

import reprlib
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import optree

from irax.core import source
from irax.core.trees import pickles as treedef_pickles


class PyTreeDef:
    """The structure of a pytree: hashable, and equal for pytrees of the same structure.

    Example:
        >>> from irax.tree_util import tree_structure
        >>> tree_structure({"b": (1, None), "a": [2]})
        PyTreeDef({'a': [*], 'b': (*, None)})
    """

    __slots__ = ("spec",)

    def __init__(self, spec: optree.PyTreeSpec) -> None:
        self.spec: optree.PyTreeSpec = spec

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return self.spec.num_leaves

    @property
    def num_nodes(self) -> int:
        """The number of containers and leaves."""
        return self.spec.num_nodes

    def unflatten(self, leaves: Iterable[Any], /) -> Any:
        """Return the pytree that has this structure and these leaves."""
        return unflatten(self.spec, leaves)

    def flatten_up_to(self, tree: Any, /) -> list[Any]:
        """Return the subtrees of a pytree in the places of the leaves."""
        return self.spec.flatten_up_to(tree)

    def compose(self, inner: PyTreeDef, /) -> PyTreeDef:
        """Return the structure that has another structure in the place of each leaf."""
        return PyTreeDef(self.spec.compose(inner.spec))

    def children(self) -> list[PyTreeDef]:
        """Return the structures of the children of the top node; none for a leaf."""
        return [PyTreeDef(child) for child in self.spec.children()]

    def node_data(self) -> tuple[type, Any] | None:
        """Return the class of the top node, and its static data; None for a leaf."""
        return _node_data(self.spec)

    def walk(
        self,
        f_node: Callable[[tuple[Any, ...], Any], Any],
        f_leaf: Callable[[Any], Any] | None,
        leaves: Iterable[Any],
        /,
    ) -> Any:
        """Apply one function to each leaf, and another to the results for the children of each
        node and its static data; return the result for the top node.
        """

        def node(kind: type, data: Any, children: tuple[Any, ...]) -> Any:
            return f_node(children, static_data(kind, data))

        return self.spec.walk(leaves, node, f_leaf)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PyTreeDef):
            return False
        try:
            return self.spec == other.spec
        except Exception as error:  # of static data, which may be arrays
            raise ValueError(
                f"two structures of pytrees cannot be compared, as the static data of their nodes "
                f"cannot: {error}; static data must be hashable and equal as a whole, so arrays "
                f"must be leaves: {reprlib.repr(self)}"
            ) from error

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"PyTreeDef({_text(self.spec)})"

    def __reduce__(self) -> Any:
        return treedef_pickles.reduced(PyTreeDef, self.spec)

    def __setstate__(self, state: tuple[Any, Any]) -> None:
        self.spec = treedef_pickles.spec_of(state[1])


def unflatten(spec: optree.PyTreeSpec, leaves: Iterable[Any]) -> Any:
    """Return the pytree that has a structure and these leaves, with the keys of dicts in order. By
    itself optree gives them the order of the dicts that were flattened.
    """
    leaves = list(leaves)
    if len(leaves) != spec.num_leaves:
        return spec.unflatten(leaves)  # its error says how many there must be
    return spec.traverse(leaves, _in_order)


def _in_order(node: Any) -> Any:
    kind = type(node)
    if kind is not dict and kind is not defaultdict:
        return node
    pairs = {key: node[key] for key in _sorted(node)}
    return pairs if kind is dict else defaultdict(node.default_factory, pairs)


def _sorted(keys: Iterable[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError as error:
        listed = reprlib.repr(list(keys))
        raise ValueError(
            f"the keys of a dict in a pytree must have an order, got {listed}: {error}"
        ) from None


def flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None, namespace: str
) -> tuple[list[Any], optree.PyTreeSpec]:
    """Return the leaves of a pytree and its structure, by the registry of a namespace.

    Raises:
        ValueError: a dict has keys that cannot be sorted; a class registered by the user is taken
            apart into something else than children and static data; or `is_leaf` returned no bool.
    """
    is_leaf = None if is_leaf is None else _answering(is_leaf)
    leaves, spec = optree.tree_flatten(tree, is_leaf, namespace=namespace)
    if _has_foreign_nodes(spec):
        leaves, spec = optree.tree_flatten(tree, with_foreign(is_leaf), namespace=namespace)
    if is_leaf is None and not _ITERATORS.isdisjoint(map(type, leaves)):
        kind = next(type(x) for x in leaves if type(x) in _ITERATORS).__name__
        source.warn(
            f"pytree: a {kind} is taken for a leaf, and will be an error in JAX: make a list of "
            "it, or give is_leaf",
            DeprecationWarning,
        )
    return leaves, spec


def flatten_with_accessors(
    tree: Any, is_leaf: Callable[[Any], bool] | None, namespace: str
) -> tuple[list[optree.PyTreeAccessor], list[Any], optree.PyTreeSpec]:
    """Return the ways to the leaves of a pytree, the leaves, and its structure, as `flatten`."""
    is_leaf = with_foreign(is_leaf)
    accessors, leaves, spec = optree.tree_flatten_with_accessor(tree, is_leaf, namespace=namespace)
    _has_foreign_nodes(spec)  # which checks the order of keys
    return accessors, leaves, spec


def with_foreign(is_leaf: Callable[[Any], bool] | None) -> Callable[[Any], bool]:
    """Return `is_leaf`, extended to objects that optree takes apart and JAX does not: see
    `is_foreign`.
    """
    if is_leaf is None:
        return lambda x: is_foreign(type(x))
    answer = _answering(is_leaf)
    return lambda x: answer(x) or is_foreign(type(x))


def _answering(is_leaf: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return `is_leaf` with a check of what it returns."""

    def answer(x: Any) -> bool:
        found: Any = is_leaf(x)
        if found is True or found is False or found is None:
            return bool(found)
        if isinstance(found, int) or getattr(found, "shape", None) == ():
            return bool(found)
        raise ValueError(f"is_leaf must return True or False, got {reprlib.repr(found)}")

    return answer


def is_foreign(kind: type) -> bool:
    """Return True if instances of a class are leaves, though optree takes them apart: deques, and
    C's structs such as `time.struct_time`.
    """
    return kind is deque or optree.is_structseq_class(kind)


def _has_foreign_nodes(spec: optree.PyTreeSpec) -> bool:
    """Return True if a structure has nodes that are leaves for users. Raises ValueError where a
    dict has keys that cannot be sorted: optree takes them in the order of their classes' names.
    """
    found = False

    def node(kind: type, data: Any, children: Any) -> None:
        nonlocal found
        if kind is dict:
            _sorted(data)
        elif kind is defaultdict:
            _sorted(data[1])
        elif kind not in _USUAL and is_foreign(kind):
            found = True

    spec.walk(range(spec.num_leaves), node, None)
    return found


_ITERATORS = frozenset(
    map(
        type,
        (
            *({}.values(), map(id, ()), filter(None, ()), zip(strict=True), enumerate(())),
            *(iter([]), iter(()), (x for x in ())),
        ),
    )
)
"""Classes of iterators, which end when they are read."""

_USUAL = frozenset({tuple, list, type(None), OrderedDict})


def in_order(spec: optree.PyTreeSpec) -> optree.PyTreeSpec:
    """Return an equal structure, from which optree itself makes pytrees as `unflatten` does."""
    return spec.transform(_node_in_order)


def _node_in_order(node: optree.PyTreeSpec) -> optree.PyTreeSpec:
    if node.type is not dict and node.type is not defaultdict:
        return node
    numbered = _in_order(node.unflatten(range(node.num_leaves)))
    return optree.tree_structure(numbered, none_is_leaf=node.none_is_leaf, namespace=node.namespace)


def _node_data(spec: optree.PyTreeSpec) -> tuple[type, Any] | None:
    top = spec.one_level()
    if top is None:
        return None
    kind, data = top.walk([None] * top.num_leaves, _kind_and_data)
    return kind, None if optree.is_namedtuple_class(kind) else data


def _kind_and_data(kind: type, data: Any, children: tuple[Any, ...]) -> tuple[type, Any]:
    return kind, static_data(kind, data)


def static_data(kind: type, data: Any) -> Any:
    """Static data of a node in JAX's form: optree has the keys of dicts of all kinds as lists."""
    if kind is OrderedDict:
        return tuple(data)
    return (data[0], tuple(data[1])) if kind is defaultdict else data


def _text(spec: optree.PyTreeSpec) -> str:
    found = _node_data(spec)
    if found is None:
        return "*"
    kind, data = found
    children = [_text(child) for child in spec.children()]
    inner = ", ".join(children)
    if kind is type(None):
        return "None"
    if kind is tuple:
        return f"({inner},)" if len(children) == 1 else f"({inner})"
    if kind is list:
        return f"[{inner}]"
    if kind is dict:
        pairs = zip(data, children, strict=True)
        return "{" + ", ".join(f"{key!r}: {child}" for key, child in pairs) + "}"
    if optree.is_namedtuple_class(kind):
        return f"CustomNode(namedtuple[{kind.__name__}], [{inner}])"
    return f"CustomNode({kind.__name__}[{data}], [{inner}])"
