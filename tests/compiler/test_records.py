"""Tests of data classes that are made fast: those of the standard library are the reference."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from irax_compiler import records

BODY = """
@dataclass
class Plain:
    "A class with all kinds of fields."
    x: int
    y: int = 2
    names: list = field(default_factory=list)
    hidden: int = field(default=0, repr=False, compare=False)
    made: dict = field(default_factory=dict, init=False)
    fixed: str = field(default="a", init=False)

@dataclass(frozen=True)
class Frozen:
    "A class of values."
    x: int = 1
    y: tuple = ()

@dataclass(frozen=True)
class Inner(Frozen):
    "A class that inherits fields."
    z: int = 3

@dataclass(frozen=True, kw_only=True)
class Named:
    "A class whose fields have names alone."
    x: int
    y: int = field(default=2)

@dataclass(eq=False)
class Identity:
    "A class of objects that are equal to themselves alone."
    x: int = 0

@dataclass(frozen=True)
class Own:
    "A class with methods of its own."
    x: int
    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.x)
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 7
    def __repr__(self):
        return "own"

@dataclass
class Empty:
    "A class without fields."
"""


def made_by(module: Any) -> dict[str, Any]:
    names = {"dataclass": module.dataclass, "field": dataclasses.field, "__name__": __name__}
    exec(BODY, names)
    return names


OURS, REFERENCE = made_by(records), made_by(dataclasses)
CALLS = [
    ("Plain", (1,), {}),
    ("Plain", (1, 3, [4]), {"hidden": 5}),
    ("Plain", (), {}),
    ("Frozen", (), {}),
    ("Frozen", (1, (2, 3)), {}),
    ("Frozen", (float("nan"), []), {}),
    ("Inner", (1, (), 4), {}),
    ("Named", (), {"x": 1}),
    ("Named", (1,), {}),
    ("Identity", (1,), {}),
    ("Own", (3,), {}),
    ("Empty", (), {}),
    ("Empty", (1,), {}),
]


def told(make: Any) -> Any:
    """Return what a call returns, or the type of what it raises."""
    try:
        return make()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_objects_behave_as_those_of_the_standard_library(name: str, args: Any, kwargs: Any):
    def facts(cls: Any) -> list[Any]:
        x = told(lambda: cls(*args, **kwargs))
        if isinstance(x, type):
            return [x]
        others = [cls(*args, **kwargs), copy.copy(x), object()]
        return [
            repr(x),
            vars(x),
            [x == other for other in others],
            told(lambda: hash(x) == hash(others[0])),
            told(lambda: setattr(x, "x", 9)),
            told(lambda: delattr(x, "x")),
            told(lambda: repr(dataclasses.replace(x, x=8))),
        ]

    ours, reference = facts(OURS[name]), facts(REFERENCE[name])
    # The standard library leaves fields that are not given to a constructor to the class.
    for found in (ours, reference):
        if len(found) > 1:
            found[1] = {k: v for k, v in found[1].items() if k != "fixed"}
    assert str(ours) == str(reference)


@pytest.mark.parametrize("name", ["Plain", "Frozen", "Inner", "Named", "Identity", "Own", "Empty"])
def test_classes_say_the_same_of_themselves(name: str):
    ours, reference = OURS[name], REFERENCE[name]
    assert dataclasses.is_dataclass(ours)
    facts = ("name", "type", "init", "repr", "compare", "kw_only")
    assert [[getattr(x, fact) for fact in facts] for x in dataclasses.fields(ours)] == [
        [getattr(x, fact) for fact in facts] for x in dataclasses.fields(reference)
    ]
    assert ours.__match_args__ == reference.__match_args__
    assert ours.__dataclass_params__.frozen == reference.__dataclass_params__.frozen
    assert (ours.__hash__ is None) == (reference.__hash__ is None)


def test_classes_of_both_kinds_inherit_from_each_other():
    @dataclasses.dataclass(frozen=True)
    class Standard(OURS["Frozen"]):
        w: int = 0

    @records.dataclass(frozen=True)
    class Fast(REFERENCE["Frozen"]):
        w: int = 0

    assert repr(Standard(1, (2,), 3)).endswith("Standard(x=1, y=(2,), w=3)")
    assert repr(Fast(1, (2,), 3)).endswith("Fast(x=1, y=(2,), w=3)")
    assert Standard() == Standard(1, (), 0)
    assert Fast() == Fast(1, (), 0)
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        records.dataclass(type("Loose", (OURS["Frozen"],), {"__annotations__": {"w": int}}))


@records.dataclass(frozen=True)
class Pickled:
    """A class that pickle finds."""

    x: int
    inner: Any = None


def test_objects_are_pickled_and_show_themselves_inside_of_themselves():
    x = Pickled(1, Pickled(2))
    assert pickle.loads(pickle.dumps(x)) == x
    x = Pickled(1, [])
    x.inner.append(x)
    assert repr(x) == "Pickled(x=1, inner=[...])"
