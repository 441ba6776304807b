"""Nested containers of arrays, and what a file says of them in JSON.

A leaf is its number; `[0, 1]` stands for a list, null for None, and an object for the others:

    {"tuple": [0, 1]}                           {"dict": {"w": 0, "b": 1}}
    {"namedtuple": "Point", "fields": {"x": 0}}  {"items": [[3, 0]]}: a dict whose keys are numbers
    {"node": "name", "data": "...", "children": [0]}: a class of the user's

"ordered" says of a dict that it is an OrderedDict.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from irax_runtime.once import once

Spec = Any
"""A pytree's structure as JSON."""
Parts = Callable[[Any], tuple[str, str, Sequence[Any]]]
"""Name, data and children of an object of the user's; raises TypeError where it is not known."""
Make = Callable[[str, str, Sequence[Any]], Any]
"""The object, of these."""


KEY = "irax.key"
"""The name of random keys: objects that hold an array of words, which elsewhere stands for them."""

NAMED_TUPLES: dict[str, Any] = {}
"""Classes of named tuples that are known, by their names in files."""


class Leaf:
    """Stands for a leaf of a tree that is described."""

    def __init__(self, number: int) -> None:
        self.number = number


def describe(tree: Any, parts: Parts) -> Spec:
    """Describe a tree whose leaves are `Leaf`s, for a file.

    Raises:
        TypeError: a container that `parts` does not know, or a key that is no string or int.
    """

    def go(x: Any) -> Spec:
        if isinstance(x, Leaf):
            return x.number
        if x is None:
            return None
        if type(x) is list:
            return [go(y) for y in x]
        if type(x) is tuple:
            return {"tuple": [go(y) for y in x]}
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            fields = dict(zip(_fields(x), map(go, x), strict=True))
            known = [name for name, cls in NAMED_TUPLES.items() if cls is type(x)]
            return {"namedtuple": (known or [type(x).__name__])[0], "fields": fields}
        if isinstance(x, dict) and type(x) in (dict, OrderedDict):
            ordered = {"ordered": True} if type(x) is OrderedDict else {}
            if all(type(key) is str for key in x):
                return {"dict": {key: go(y) for key, y in x.items()}, **ordered}
            if all(type(key) in (str, int) for key in x):
                return {"items": [[key, go(y)] for key, y in x.items()], **ordered}
            raise TypeError(f"a dict with keys {list(x)!r}: expected strings or ints")
        name, data, children = parts(x)
        return {"node": name, "data": data, "children": [go(y) for y in children]}

    return go(tree)


def flatten(
    spec: Spec, tree: Any, names: Sequence[str], what: str, parts: Parts | None = None
) -> list[Any]:
    """The leaves of a tree, in the order of their numbers.

    In errors the items of `tree`, a tuple, have `names`, and `what` comes first. Without `parts`,
    an object of the user's is a tuple of its children.

    Raises:
        TypeError: the tree is not like `spec`; the message names the place.
    """
    found: dict[int, Any] = {}

    def items(x: Any, kind: type, length: int, where: str) -> Sequence[Any]:
        if not isinstance(x, kind):
            raise TypeError(f"{what}: {where} is {_short(x)}; expected a {kind.__name__}")
        if len(x) != length:
            raise TypeError(f"{what}: {where} has {len(x)} items; expected {length}")
        return x

    def go(spec: Spec, x: Any, where: str) -> None:
        if isinstance(spec, int):
            found[spec] = x
        elif spec is None:
            if x is not None:
                raise TypeError(f"{what}: {where} is {_short(x)}; expected None")
        elif isinstance(spec, list):
            for i, (s, y) in enumerate(zip(spec, items(x, list, len(spec), where), strict=True)):
                go(s, y, f"{where}[{i}]")
        elif "tuple" in spec:
            inner = spec["tuple"]
            for i, (s, y) in enumerate(zip(inner, items(x, tuple, len(inner), where), strict=True)):
                go(s, y, names[i] if not where else f"{where}[{i}]")
        elif "namedtuple" in spec:
            fields = spec["fields"]
            if not isinstance(x, tuple) or _fields(x) != tuple(fields):
                expected = f"{spec['namedtuple']}({', '.join(fields)})"
                raise TypeError(f"{what}: {where} is {_short(x)}; expected {expected}")
            for (field, s), y in zip(fields.items(), x, strict=True):
                go(s, y, f"{where}.{field}")
        elif "node" in spec:
            children = spec["children"]
            if spec["node"] == KEY and parts is None:
                return go(children[0], x, where)
            if parts is not None:
                name, data, given = parts(x)
                if (name, data, len(given)) != (spec["node"], spec["data"], len(children)):
                    raise TypeError(
                        f"{what}: {where} is {_short(x)}; expected a {spec['node']} like before"
                    )
            else:
                given = items(x, tuple, len(children), where)
            for i, (s, y) in enumerate(zip(children, given, strict=True)):
                go(s, y, f"{where}[{i}]")
        else:
            pairs = _pairs(spec)
            if not isinstance(x, dict) or set(x) != {key for key, _ in pairs}:
                keys = ", ".join(repr(key) for key, _ in pairs)
                raise TypeError(
                    f"{what}: {where} is {_short(x)}; expected a dict with the keys {keys}"
                )
            for key, s in pairs:
                go(s, x[key], f"{where}[{key!r}]")

    go(spec, tree, "")
    return [found[i] for i in range(len(found))]


def build(spec: Spec, leaves: Sequence[Any], make: Make | None = None) -> Any:
    """The tree with these leaves. Without `make`, an object of the user's is a tuple."""

    def go(spec: Spec) -> Any:
        if isinstance(spec, int):
            return leaves[spec]
        if spec is None:
            return None
        if isinstance(spec, list):
            return [go(s) for s in spec]
        if "tuple" in spec:
            return tuple(go(s) for s in spec["tuple"])
        if "namedtuple" in spec:
            made = _class(spec["namedtuple"], tuple(spec["fields"]))
            return made(*(go(s) for s in spec["fields"].values()))
        if "node" in spec:
            children = tuple(go(s) for s in spec["children"])
            if spec["node"] == KEY and make is None:
                return children[0]
            return children if make is None else make(spec["node"], spec["data"], children)
        made = OrderedDict if spec.get("ordered") else dict
        return made((key, go(s)) for key, s in _pairs(spec))

    return go(spec)


def numbers(spec: Spec) -> list[int]:
    """The numbers of a tree's leaves, as they come."""
    found: list[int] = []

    class Leaves(Sequence[None]):
        def __getitem__(self, number: Any) -> None:
            found.append(number)

        def __len__(self) -> int:
            return len(found)

    build(spec, Leaves())
    return found


def _pairs(spec: Spec) -> list[tuple[Any, Spec]]:
    if "dict" in spec:
        return list(spec["dict"].items())
    if "items" in spec:
        return [(key, s) for key, s in spec["items"]]
    raise ValueError(f"a tree of an unknown kind: {_short(spec)}")


def _fields(x: Any) -> tuple[str, ...]:
    return getattr(type(x), "_fields", ())


def _class(name: str, fields: tuple[str, ...]) -> Any:
    known = NAMED_TUPLES.get(name)
    if known is not None and known._fields == fields:
        return known
    return _made(name, fields)


@once
def _made(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)  # pyright: ignore[reportUntypedNamedTuple]


def _short(x: Any) -> str:
    if isinstance(x, dict):
        return f"a dict with the keys {', '.join(map(repr, x)) or '()'}"
    if isinstance(x, list | tuple):
        return f"a {type(x).__name__} of {len(x)}"
    if hasattr(x, "shape"):
        return f"an array of shape {tuple(x.shape)}"
    return repr(x) if len(repr(x)) <= 60 else f"a {type(x).__name__}"
