"""Dataclasses of `irax_compiler.records` are as Python's."""

import copy
import dataclasses
import functools
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from irax_compiler import records


def same(*arguments: Any, **named: Any) -> list[Any]:
    """Return what a function returns, or the kind of its error and its text."""
    function, *rest = arguments
    try:
        return [function(*rest, **named)]
    except Exception as error:
        return [type(error), str(error)]


def plain(make: Callable[..., Any]) -> type[Any]:
    @make
    class Example:
        """Fields of each kind."""

        x: int
        y: list[int] = field(default_factory=list)
        z: int = 3
        hidden: int = field(default=4, repr=False, compare=False)
        computed: int = field(init=False, default=5)
        made: list[int] = field(init=False, default_factory=lambda: [6])
        shared: ClassVar[int] = 7

    return Example


def frozen(make: Callable[..., Any]) -> type[Any]:
    @make(frozen=True)
    class Base:
        x: int
        shared: ClassVar[str] = "a"

        @functools.cached_property
        def doubled(self) -> int:
            return 2 * self.x

    @make(frozen=True, kw_only=True)
    class Example(Base):
        y: int = 1
        z: int

        def __post_init__(self) -> None:
            object.__setattr__(self, "z", self.z + 1)

    return Example


def single(make: Callable[..., Any]) -> type[Any]:
    @make(frozen=True)
    class Example:
        x: float

    return Example


def empty(make: Callable[..., Any]) -> type[Any]:
    @make(frozen=True)
    class Example:
        pass

    return Example


def own(make: Callable[..., Any]) -> type[Any]:
    @make(frozen=True)
    class Example:
        x: int

        def __init__(self, twice: int) -> None:
            object.__setattr__(self, "x", 2 * twice)

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 3

    return Example


def without_equality(make: Callable[..., Any]) -> type[Any]:
    @make(frozen=True, eq=False)
    class Example:
        x: int

    return Example


def uninitialized(make: Callable[..., Any]) -> type[Any]:
    @make
    class Example:
        x: int
        y: int = field(init=False)

    return Example


def behaviour(*arguments: Any, **named: Any) -> list[Any]:
    """Return what an instance of a class does, or the error of its construction."""
    cls, *rest = arguments
    made = same(cls, *rest, **named)
    one = made[0]
    if not isinstance(one, cls):
        return made
    facts = [dict(vars(one)), same(repr, one), one != 3, [f.name for f in dataclasses.fields(one)]]
    facts += [same(lambda: one == cls(*rest, **named)), same(lambda: one == copy.deepcopy(one))]
    facts += [same(setattr, one, "other", 9), same(setattr, one, "x", 9), same(delattr, one, "x")]
    return [*facts, dict(vars(one))]


EXAMPLES = [
    (plain, [(1,), (1, [2]), (1, [2], 3, 4), (), (1, 2, 3, 4, 5)], {}),
    (frozen, [(1,), (2,), ()], {"z": 5}),
    (single, [(1.0,), (1,)], {}),
    (empty, [()], {}),
    (own, [(1,), (2,)], {}),
    (without_equality, [(1,)], {}),
    (uninitialized, [(1,)], {}),
]


@pytest.mark.parametrize(("example", "given", "named"), EXAMPLES)
def test_classes_do_what_pythons_do(
    example: Callable[..., type[Any]], given: list[tuple[Any, ...]], named: dict[str, Any]
) -> None:
    ours, pythons = example(records.dataclass), example(dataclasses.dataclass)
    assert str(inspect.signature(ours)) == str(inspect.signature(pythons))
    assert ours.__match_args__ == pythons.__match_args__
    assert ours.__doc__ == pythons.__doc__ or "Example(" in str(pythons.__doc__)
    assert (ours.__hash__ is None) == (pythons.__hash__ is None)
    for arguments in given:
        assert behaviour(ours, *arguments, **named) == behaviour(pythons, *arguments, **named)


def test_equal_instances_have_equal_hashes() -> None:
    Example = frozen(records.dataclass)
    one, other = Example(1, z=2), Example(1, z=2)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Example(1, z=3)
    assert len({one, other, Example(2, z=2)}) == 2
    assert dataclasses.replace(one, x=2) == Example(2, z=3)
    assert one.__replace__(x=2) == Example(2, z=3)
    assert dataclasses.asdict(one) == {"x": 1, "y": 1, "z": 3}
    assert one.doubled == 2


def test_a_frozen_instance_does_not_change() -> None:
    one = single(records.dataclass)(1.0)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2.0
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x


@records.dataclass(frozen=True)
class Pickled:
    x: int
    inner: Any = None


def test_instances_are_pickled_and_print_themselves_once() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1)
    nested = Pickled(1, [])
    nested.inner.append(nested)
    assert repr(nested) == "Pickled(x=1, inner=[...])"


@pytest.mark.parametrize("first", [records.dataclass, dataclasses.dataclass])
@pytest.mark.parametrize("second", [records.dataclass, dataclasses.dataclass])
def test_one_kind_derives_from_the_other(first: Any, second: Any) -> None:
    @first(frozen=True)
    class Base:
        x: int

    @second(frozen=True)
    class Derived(Base):
        y: int = 2

    assert Derived(1) == Derived(1, 2)
    assert {Derived(1): 3}[Derived(1)] == 3
    with pytest.raises(FrozenInstanceError):
        Derived(1).x = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="frozen"):

        @dataclasses.dataclass
        class Thawed(Derived):
            pass
