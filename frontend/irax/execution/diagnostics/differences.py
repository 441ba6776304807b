"""The differences between two signatures of a jitted function, and what to do about them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from irax.core.avals import ShapedArray
from irax.core.settings.options import SEEN_IN_TRACES
from irax.core.trees import array_trees
from irax.core.trees.parameter_names import ParameterNames
from irax.execution.diagnostics.history import Key
from irax.execution.jit_parameters import Static

ADVICE = {
    "the shape": "keep to a few sizes: pad the array, and mask what was added",
    "the dtype": "convert it before the call: irax.numpy.asarray(x, dtype)",
    "the weak type": (
        "Python's numbers, and what is computed of them alone, have weak dtypes; give the array "
        "its dtype: irax.numpy.asarray(x, dtype)"
    ),
    "the sharding": "put the array where it belongs before the call: irax.device_put(x, sharding)",
    "the structure": (
        "pass pytrees of one structure: the same keys and lengths, and an array of zeros in the "
        "place of None"
    ),
    "the static value": (
        "each value of a static argument is compiled for itself: make it an argument that is not "
        "static, unless shapes or Python's branches depend on it"
    ),
    "the static object": (
        "it equals nothing but itself: make it once, or give its class __eq__ and __hash__"
    ),
    "the static function": (
        "each lambda, partial and inner function is an object of its own: make it once, outside of "
        "loops"
    ),
    "the option": "set options once, before the first call",
    "the named axes": "",
}
"""Advice for each kind of difference."""


@dataclass(frozen=True)
class Difference:
    """Something in which two signatures differ."""

    argument: str
    """The argument, as `params['w']`, or the option."""
    what: str
    """The kind of difference: a key of `ADVICE`."""
    text: str

    @property
    def advice(self) -> str:
        """The way to avoid it."""
        return ADVICE[self.what]


def nearest(function: Callable[..., Any], key: Key, others: Sequence[Key]) -> list[Difference]:
    """Return the differences from the signature that has the fewest; of several, from the last."""
    other = min(reversed(others), key=lambda other: _distance(key, other))
    return list(between(function, key, other))


def _distance(key: Key, other: Key) -> tuple[bool, int]:
    """Return True for another structure, and a number that grows with that of differences."""
    fixed = sum(_differ(a, b) for i in (1, 2) for a, b in zip_longest(key[i], other[i]))
    if _differ(key[0], other[0]):
        return True, fixed + abs(len(key) - len(other))
    return False, fixed + sum(map(_distance_of_leaves, key[3:], other[3:]))


def _differ(a: Any, b: Any) -> bool:
    """True for values that differ, or cannot be compared, such as a tree with an array in it."""
    try:
        return bool(a != b)
    except Exception:
        return True


def _distance_of_leaves(now: Any, then: Any) -> int:
    if now == then:
        return 0
    new, old = _aval(now), _aval(then)
    facts = ((new.shape, old.shape), (new.dtype, old.dtype), (new.weak_type, old.weak_type))
    return max(1, sum(a != b for a, b in facts))


def between(function: Callable[..., Any], now: Key, then: Key) -> Iterator[Difference]:
    """Yield the differences between two signatures of a function."""
    static_now, static_then = ({s.where: s for s in key[1]} for key in (now, then))
    names = ParameterNames(function)
    for where in dict.fromkeys((*static_now, *static_then)):
        yield from _of_static(names.of(where), static_now.get(where), static_then.get(where))
    yield from _of_options(now[2], then[2])
    if not _differ(now[0], then[0]):
        for name, new, old in zip(names_of(function, now), now[3:], then[3:], strict=True):
            yield from _of_leaf(name, new, old)
    else:
        yield from _of_structure(names_of(function, now), names_of(function, then), now, then)


def _of_leaf(name: str, now: Any, then: Any) -> Iterator[Difference]:
    if now == then:
        return

    def difference(what: str) -> Difference:
        return Difference(name, what, f"{name} is {type_text(now)}, before {type_text(then)}")

    new, old = _aval(now), _aval(then)
    if new.shape != old.shape:
        yield difference("the shape")
    elif new.dtype != old.dtype:
        yield difference("the dtype")
    elif new.weak_type != old.weak_type:
        yield difference("the weak type")
    else:
        yield difference("the sharding")


def _aval(x: Any) -> ShapedArray:
    """The type of an array in a signature, without its layout."""
    return x[0] if isinstance(x, tuple) else x


def type_text(x: Any) -> str:
    """Return a leaf's part of a signature as text."""
    if isinstance(x, tuple):
        return f"{x[0]} divided along {x[1]}" if any(x[1]) else str(x[0])
    return str(x)


def _of_static(name: str, now: Static | None, then: Static | None) -> Iterator[Difference]:
    if now == then:
        return
    what = "the static value"
    if now is not None and then is not None and type(now.value) is type(then.value):
        if isinstance(now.value, types.FunctionType | functools.partial):
            what = "the static function"
        elif type(now.value).__eq__ is object.__eq__:
            what = "the static object"
    new, old = ("not given" if s is None else _short(s.value) for s in (now, then))
    yield Difference(name, what, f"the static argument {name} is {new}, before {old}")


def _of_options(now: tuple[Any, ...], then: tuple[Any, ...]) -> Iterator[Difference]:
    count = len(SEEN_IN_TRACES)
    for name, new, old in zip(SEEN_IN_TRACES, now, then, strict=False):
        if new != old:
            text = f"the option {name} is {_short(new)}, before {_short(old)}"
            yield Difference(name, "the option", text)
    if now[count:] != then[count:]:
        new, old = (_short([axis.name for axis in x[count:]]) for x in (now, then))
        yield Difference("", "the named axes", f"it is mapped along axes {new}, before {old}")


def _of_structure(
    now: Sequence[str], then: Sequence[str], key: Key, other: Key
) -> Iterator[Difference]:
    known, before = set(now), set(then)
    more = [name for name in now if name not in before]
    less = [name for name in then if name not in known]
    for names, text in ((more, "is new"), (less, "is missing")):
        if names:
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
            verb = text if len(names) == 1 else text.replace("is", "are", 1)
            yield Difference(_root(names[0]), "the structure", f"{shown} {verb}")
    if not (more or less):
        new, old = (_short(x[0]) for x in (key, other))
        yield Difference("", "the structure", f"the arguments are {new}, before {old}")


def _root(name: str) -> str:
    """Return the argument that a leaf is in."""
    return name.partition("[")[0].partition(".")[0]


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # the user's own
        text = object.__repr__(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---- names ---------------------------------------------------------------------------------------


def names_of(function: Callable[..., Any], key: Key) -> list[str]:
    """Return a name for each leaf of a call's arguments, such as `params['w']`."""
    tree, static, *_ = key
    try:
        args, kwargs = array_trees.tree_unflatten(tree, range(tree.num_leaves))
    except Exception:  # a class of the user's that takes arrays only
        return [f"leaf {n} of the arguments" for n in range(tree.num_leaves)]
    return ParameterNames(function).of_leaves(args, kwargs, {s.where for s in static})


def signature_text(function: Callable[..., Any], key: Key) -> str:
    """Return the types of a call's arguments, and the values of static ones."""
    named = zip(names_of(function, key), key[3:], strict=True)
    shown = [f"{name}: {type_text(leaf)}" for name, leaf in named]
    if len(shown) > 8:
        shown = [*shown[:7], f"... {len(shown) - 7} more"]
    parameters = ParameterNames(function)
    shown += [f"{parameters.of(s.where)}={_short(s.value)}" for s in key[1]]
    return ", ".join(shown) or "no arguments"
