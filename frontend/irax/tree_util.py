"""Pytrees: nested containers of arrays, taken apart into leaves and put together again.

Containers are tuples, lists, dicts (in the order of their sorted keys), named tuples, OrderedDict,
defaultdict, and what is registered here; None is a container of nothing. All else is a leaf.

optree does the work; a `PyTreeDef` holds its `PyTreeSpec`.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import optree

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.tracebacks import api_boundary
from irax.core.trees import errors as tree_errors
from irax.core.trees.nodes import flatten_one_level, flatten_one_level_with_keys, is_tree_node
from irax.core.trees.pickles import register as _register_registry
from irax.core.trees.prefixes import flatten_up_to, prefix_broadcast
from irax.core.trees.registry import (
    NAMESPACE,
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    Partial,
    SequenceKey,
    asking_for_keys,
    key_path,
    keystr,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from irax.core.trees.registry_object import PyTreeRegistry
from irax.core.trees.treedefs import (
    PyTreeDef,
    flatten,
    flatten_with_accessors,
    unflatten,
    with_foreign,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "prefix_broadcast",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "structure_error",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_multimap",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

_IsLeaf = Callable[[Any], bool] | None


# ---- Taking apart and putting together ----


@api_boundary
def tree_flatten(tree: Any, is_leaf: _IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a pytree, and its structure.

    Args:
        tree: any pytree.
        is_leaf: called with every subtree; where it returns True, the subtree is a leaf.

    Raises:
        ValueError: a dict has keys that cannot be sorted; a class that was registered is taken
            apart into something else than children and static data; `is_leaf` returns no bool.

    Example:
        >>> from irax.tree_util import tree_flatten
        >>> tree_flatten({"b": 1, "a": (2, None)})[0]
        [2, 1]
    """
    leaves, spec = flatten(tree, is_leaf, NAMESPACE)
    return leaves, PyTreeDef(spec)


@api_boundary
def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Return the pytree that has this structure and these leaves.

    Args:
        treedef: the structure, as `tree_structure` returns it.
        leaves: the leaves, in the order of `tree_leaves`.

    Raises:
        ValueError: there are more or fewer leaves than the structure holds.

    Example:
        >>> from irax.tree_util import tree_structure, tree_unflatten
        >>> tree_unflatten(tree_structure({"a": 0, "b": [0, 0]}), [1, 2, 3])
        {'a': 1, 'b': [2, 3]}
    """
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: _IsLeaf = None) -> list[Any]:
    """Return the leaves of a pytree.

    Args:
        tree: a pytree.
        is_leaf: a function that returns True for subtrees to be taken as leaves.

    Raises:
        TypeError: `is_leaf` is not a function.

    Example:
        >>> from irax.tree_util import tree_leaves
        >>> tree_leaves([1, (2, None), {"x": 3}])
        [1, 2, 3]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: _IsLeaf = None) -> PyTreeDef:
    """Return the structure of a pytree: hashable, and equal for trees of the same structure.

    Args:
        tree: a pytree.
        is_leaf: a function that returns True for subtrees to be taken as leaves.

    Raises:
        TypeError: `is_leaf` is not a function.

    Example:
        >>> from irax.tree_util import tree_structure
        >>> tree_structure([1, 2]) == tree_structure([3.0, "x"])
        True
    """
    return tree_flatten(tree, is_leaf)[1]


def all_leaves(iterable: Iterable[Any], is_leaf: _IsLeaf = None) -> bool:
    """Return True if every element is a leaf.

    Args:
        iterable: the elements.
        is_leaf: a function that returns True for subtrees to be taken as leaves.

    Raises:
        TypeError: `iterable` cannot be iterated over, or `is_leaf` is not a function.

    Example:
        >>> from irax.tree_util import all_leaves
        >>> all_leaves([1, 2]), all_leaves([1, [2]]), all_leaves([None])
        (True, False, False)
    """
    return optree.all_leaves(iterable, with_foreign(is_leaf), namespace=NAMESPACE)


@api_boundary
def tree_flatten_with_path(
    tree: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
    *,
    namespace: str = NAMESPACE,
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Return the leaves of a pytree, each in a pair with its key path, and the structure.

    Args:
        tree: any pytree.
        is_leaf: called with every subtree; where it returns True, the subtree is a leaf.
        is_leaf_takes_path: call `is_leaf` with the key path and the subtree.
        namespace: the registry that says what is a container.

    Raises:
        TypeError: `is_leaf` is not a function.

    Example:
        >>> from irax.tree_util import tree_flatten_with_path
        >>> tree_flatten_with_path({"a": [7]})[0]
        [((DictKey(key='a'), SequenceKey(idx=0)), 7)]
    """
    by_path = is_leaf if is_leaf_takes_path else None
    answers = None if by_path is None else _preorder(by_path, (), tree, namespace)
    asked = is_leaf if answers is None else lambda _: next(answers)
    with asking_for_keys():
        accessors, leaves, spec = flatten_with_accessors(tree, asked, namespace)
    return list(zip(map(key_path, accessors), leaves, strict=True)), PyTreeDef(spec)


def _preorder(
    is_leaf: Callable[[KeyPath, Any], bool], path: KeyPath, node: Any, namespace: str
) -> Iterator[bool]:
    """Yield the answers of `is_leaf` for a node and its descendants, in optree's order."""
    answer = is_leaf(path, node)
    yield answer
    if answer or optree.all_leaves([node], with_foreign(None), namespace=namespace):
        return
    for key, child in flatten_one_level_with_keys(node, namespace=namespace)[0]:
        yield from _preorder(is_leaf, (*path, key), child, namespace)


def tree_leaves_with_path(
    tree: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
    *,
    namespace: str = NAMESPACE,
) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of a pytree, each in a pair with its key path: the first of what
    `tree_flatten_with_path` returns.

    Args:
        tree: a pytree.
        is_leaf: a function that returns True for subtrees to be taken as leaves.
        is_leaf_takes_path: True if `is_leaf` is called with the key path, too.
        namespace: the registry of containers; "irax" is the one of this package.

    Raises:
        TypeError: `is_leaf` is not a function.

    Example:
        >>> from irax.tree_util import keystr, tree_leaves_with_path
        >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [7]})]
        [("['a'][0]", 7)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path, namespace=namespace)[0]


# ---- Mapping and reducing ----


@api_boundary
def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: _IsLeaf = None) -> Any:
    """Apply a function to the leaves of a pytree, and give the results the same structure.

    Args:
        f: takes a leaf of `tree`, then what each of `rest` has in its place.
        tree: any pytree.
        rest: pytrees that have the containers of `tree`; below its leaves they may go on.
        is_leaf: called with every subtree of `tree`; where it returns True, that is a leaf.

    Raises:
        ValueError: one of `rest` lacks a container of `tree`. The message says where.

    Example:
        >>> from irax.tree_util import tree_map
        >>> tree_map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
        {'a': 11, 'b': [22]}
    """
    if not callable(f):
        raise TypeError(f"tree_map: the first argument must be a function, got {f!r}")
    leaves, spec = flatten(tree, is_leaf, NAMESPACE)
    columns = [
        flatten_up_to(spec, other, "the first tree", f"tree {i} of tree_map")
        for i, other in enumerate(rest, start=2)
    ]
    return unflatten(spec, map(f, leaves, *columns))


tree_multimap = tree_map
"""An older name of `tree_map`, from when that took one tree."""


@api_boundary
def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Apply a function to the key path and the value of each leaf; otherwise like `tree_map`.

    With `is_leaf_takes_path`, `is_leaf` is called with the key path and the subtree.

    Args:
        f: a function of a key path, and of the leaf of each tree at that path.
        tree: a pytree.
        rest: pytrees of the same structure.
        is_leaf: a function that returns True for subtrees to be taken as leaves.
        is_leaf_takes_path: True if `is_leaf` also takes the key path, first.

    Raises:
        TypeError: `f` or `is_leaf` is not a function.
        ValueError: a tree in `rest` does not begin with the structure of the first.

    Example:
        >>> from irax.tree_util import keystr, tree_map_with_path
        >>> tree_map_with_path(lambda path, x: f"{keystr(path)}={x}", {"a": [1, 2]})
        {'a': ["['a'][0]=1", "['a'][1]=2"]}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [
        flatten_up_to(treedef.spec, other, "the first tree", f"tree {i} of tree_map_with_path")
        for i, other in enumerate(rest, start=2)
    ]
    rows = zip(pairs, *columns, strict=True)
    return treedef.unflatten(f(*pair, *others) for pair, *others in rows)


_ABSENT = object()


@api_boundary
def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _ABSENT,
    is_leaf: _IsLeaf = None,
) -> Any:
    """Fold the leaves from the left, like `functools.reduce`.

    Args:
        function: a function of the value so far and a leaf, which returns the next value.
        tree: a pytree.
        initializer: the first value; by default the first leaf.
        is_leaf: a function that returns True for subtrees to be taken as leaves.

    Raises:
        TypeError: there are no leaves and no initializer.

    Example:
        >>> from irax.tree_util import tree_reduce
        >>> tree_reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]}, 10)
        16
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _ABSENT:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


@api_boundary
def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _ABSENT,
    is_leaf: _IsLeaf = None,
) -> Any:
    """Reduce the leaves of a tree by an associative operation, in pairs; see `tree_reduce`.

    Args:
        operation: a function of two values.
        tree: a pytree.
        identity: the result for a tree without leaves.
        is_leaf: a function that returns True for subtrees to be taken as leaves.

    Raises:
        TypeError: there are no leaves, and no `identity` to return then.

    Example:
        >>> from irax.tree_util import tree_reduce_associative
        >>> tree_reduce_associative(lambda x, y: x + y, [1, (2, 3)])
        6
    """
    leaves = tree_leaves(tree, is_leaf)
    if not leaves:
        if identity is _ABSENT:
            raise TypeError("tree_reduce_associative: a tree without leaves needs an identity")
        return identity
    while len(leaves) > 1:
        last = leaves[-1:] if len(leaves) % 2 else []
        leaves = [operation(x, y) for x, y in zip(leaves[::2], leaves[1::2], strict=False)] + last
    return leaves[0]


@api_boundary
def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: _IsLeaf = None) -> Any:
    """Repeat the leaves of a prefix of a tree for all leaves that the tree has in their places.

    Args:
        prefix_tree: a tree that has the containers of the full one down to some depth.
        full_tree: a tree.
        is_leaf: tells which further subtrees of the prefix are leaves.

    Raises:
        ValueError: it is not a prefix.

    Example:
        >>> from irax.tree_util import tree_broadcast
        >>> tree_broadcast((1, 2), (0, {"a": 0, "b": 0}))
        (1, {'a': 2, 'b': 2})
    """
    leaves = prefix_broadcast(prefix_tree, full_tree, is_leaf)
    return tree_unflatten(tree_structure(full_tree), leaves)


def tree_all(tree: Any, *, is_leaf: _IsLeaf = None) -> bool:
    """Return True if every leaf is true; True if there are none.

    Args:
        tree: a pytree.
        is_leaf: a function that returns True for subtrees to be taken as leaves.

    Raises:
        TypeError: `is_leaf` is not a function.

    Example:
        >>> from irax.tree_util import tree_all
        >>> tree_all([True, {"a": False}]), tree_all([])
        (False, True)
    """
    return all(tree_leaves(tree, is_leaf))


@api_boundary
def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turn a tree of trees inside out.

    Args:
        outer_treedef: the outer structure now, which becomes the inner one.
        inner_treedef: the inner structure; None for that of the first subtree.
        pytree_to_transpose: has the inner structure at each leaf of the outer one.

    Raises:
        TypeError: the tree doesn't have these structures. The message says where.

    Example:
        >>> from irax.tree_util import tree_structure, tree_transpose
        >>> outer, inner = tree_structure([0, 0]), tree_structure({"a": 0})
        >>> tree_transpose(outer, inner, [{"a": 1}, {"a": 2}])
        {'a': [1, 2]}
    """
    tree = pytree_to_transpose
    if inner_treedef is None:
        subtrees = flatten_up_to(
            outer_treedef.spec, tree, "the outer structure", "the tree to transpose"
        )
        if not subtrees:
            raise ValueError(
                "tree_transpose: the outer structure has no leaves, so there is no first subtree "
                "to take the inner structure from: give inner_treedef"
            )
        inner_treedef = tree_structure(subtrees[0])
    leaves, treedef = tree_flatten(tree)
    expected = outer_treedef.compose(inner_treedef)
    if treedef != expected:
        error = structure_error(
            expected, tree, "the inner structure within the outer", "the tree to transpose"
        )
        raise TypeError(*error.args)
    width = inner_treedef.num_leaves
    columns = [outer_treedef.unflatten(leaves[i::width]) for i in range(width)]
    return inner_treedef.unflatten(columns)


# ---- Structures ----


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return True if a structure is a single node: a leaf, or a container of nothing.

    Args:
        treedef: a structure, such as `tree_structure` returns.

    Example:
        >>> from irax.tree_util import tree_structure, treedef_is_leaf
        >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure([1]))
        (True, False)
    """
    return treedef.num_nodes == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Return the structure of a tuple whose elements have these structures.

    Args:
        treedefs: a sequence of structures.

    Raises:
        TypeError: `treedefs` is not a sequence.

    Example:
        >>> from irax.tree_util import tree_structure, treedef_tuple
        >>> treedef_tuple([tree_structure(1), tree_structure([2])]) == tree_structure((1, [2]))
        True
    """
    specs = [treedef.spec for treedef in treedefs]
    return PyTreeDef(optree.treespec_tuple(specs, namespace=NAMESPACE))


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Return the structures of the children of the top node; none for a leaf.

    Args:
        treedef: a structure, such as `tree_structure` returns.

    Example:
        >>> from irax.tree_util import tree_structure, treedef_children
        >>> treedef_children(tree_structure((1, [2]))) == [tree_structure(1), tree_structure([2])]
        True
    """
    return treedef.children()


def structure_error(
    expected: PyTreeDef, tree: Any, expected_name: str, name: str, *, prefix: bool = False
) -> ValueError:
    """Return the error to raise for a tree that doesn't have the expected structure.

    Args:
        expected: the structure that was asked for.
        tree: the tree that came.
        expected_name: what the message calls the expected structure.
        name: what the message calls the tree.
        prefix: the tree may have anything where `expected` has a leaf.

    Example:
        >>> from irax.tree_util import structure_error, tree_structure
        >>> print(structure_error(tree_structure({"a": [0]}), {"a": [1, 2]}, "params", "grads"))
        grads must have the structure of params, but differs first at ['a']:
          expected list of 1, got list of 2
          params: {'a': [*]}
          grads: {'a': [*, *]}
    """
    return tree_errors.structure_error(expected.spec, tree, expected_name, name, prefix=prefix)


default_registry: PyTreeRegistry = PyTreeRegistry(tree_flatten, tree_flatten_with_path)
_register_registry(default_registry)
__getattr__: _GetAttr = _refuse_names(__name__)
