"""Error messages for pytrees that lack an expected structure: they say where."""

import re
from typing import Any

import optree

from irax.core.trees.registry import NAMESPACE, KeyPath, asking_for_keys, key_path, keystr


def structure_error(
    expected: optree.PyTreeSpec, tree: Any, expected_name: str, name: str, *, prefix: bool = False
) -> ValueError:
    """The error of `irax.tree_util.structure_error`."""
    namespace = expected.namespace or NAMESPACE
    found = optree.tree_structure(tree, none_is_leaf=expected.none_is_leaf, namespace=namespace)
    relation = "start with" if prefix else "have"
    message = f"{name} must {relation} the structure of {expected_name}, but "
    difference = _first_difference(expected, tree, prefix)
    if difference is None:
        message += "doesn't"
    else:
        path, wanted, got = difference
        message += f"differs first at {keystr(path) or 'the top'}:"
        if wanted.startswith("dict") and got.startswith("dict"):
            message += " Dict key mismatch;"  # JAX's words, which programs look for
        message += f"\n  expected {wanted}, got {got}"
    return ValueError(f"{message}\n  {expected_name}: {_show(expected)}\n  {name}: {_show(found)}")


def unlike_compiled(name: str, expected: optree.PyTreeSpec, given: tuple[Any, Any]) -> TypeError:
    """The error of a compiled program for arguments of another structure."""
    differs = structure_error(expected, given, "those it was compiled for", "(args, kwargs)")
    return TypeError(f"{name} was compiled for other arguments: {differs}")


def described_leaf(leaf: Any) -> str:
    """Return a phrase for a leaf that stands where a tree should: tracers are arrays for users."""
    is_array = hasattr(leaf, "shape") and hasattr(leaf, "dtype")
    return "one array" if is_array else f"a leaf of type {type(leaf).__name__}"


def _first_difference(
    expected: optree.PyTreeSpec, tree: Any, prefix: bool, path: KeyPath = ()
) -> tuple[KeyPath, str, str] | None:
    """Return where a tree first lacks a node of `expected`, that node, and the tree's own."""
    with asking_for_keys():
        top = optree.tree_structure(
            tree,
            lambda node: node is not tree,
            none_is_leaf=expected.none_is_leaf,
            namespace=expected.namespace or NAMESPACE,
        )
    if expected.is_leaf():
        return None if prefix or top.is_leaf() else (path, "a leaf", _described(top))
    node = expected.one_level()
    assert node is not None
    try:
        children = node.flatten_up_to(tree)
    except ValueError:
        got = described_leaf(tree) if top.is_leaf() else _described(top)
        return path, _described(node), got
    named = node if isinstance(tree, dict) else top  # dicts may have their keys in other orders
    accessors = named.accessors()
    for accessor, below, child in zip(accessors, expected.children(), children, strict=True):
        difference = _first_difference(below, child, prefix, path + key_path(accessor))
        if difference is not None:
            return difference
    return None


def _described(node: optree.PyTreeSpec) -> str:
    """Return a node in words: tuple of 2, dict with keys 'a', 'b'; one of a class as it prints."""
    kind, entries = node.type, node.entries()
    if kind is None or kind is type(None):
        return "None"
    if kind in (tuple, list):
        return f"{kind.__name__} of {node.num_children}"
    if issubclass(kind, dict):
        keys = ", ".join(map(repr, entries[:8])) + (", ..." if len(entries) > 8 else "")
        return f"{kind.__name__} with keys {keys}" if entries else f"empty {kind.__name__}"
    return _show(node)


def _show(treedef: optree.PyTreeSpec) -> str:
    text = str(treedef).removeprefix("PyTreeSpec(")
    text = re.sub(r"(, NoneIsLeaf)?(, namespace='[^']*')?\)$", "", text)
    return text if len(text) <= 600 else text[:600] + " ... (cut)"
