"""Key paths, the ways to register a class as a pytree, and Partial."""

import collections
import dataclasses
import doctest
import functools
import operator

import numpy as np
import pytest

import irax
from irax import tree_util as tu
from irax.core.trees import registry as tree_registry
from irax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, Partial, SequenceKey

Point = collections.namedtuple("Point", ["x", "y"])


@tu.register_pytree_with_keys_class
class Keyed:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten_with_keys(self):
        return [(GetAttrKey("a"), self.a), ("anything", self.b)], None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@tu.register_pytree_node_class
class Numbered:
    def __init__(self, content):
        self.content = content

    def tree_flatten(self):
        return [self.content], None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@tu.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object


# ---- Key paths ----


def test_key_paths_of_every_container():
    x = {"d": [1], "p": Point(2, 3), "k": Keyed(4, 5), "b": Numbered(6), "l": Layer((7,), 8)}
    assert {leaf: tu.keystr(path) for path, leaf in tu.tree_leaves_with_path(x)} == {
        1: "['d'][0]",
        2: "['p'].x",
        3: "['p'].y",
        4: "['k'].a",
        5: "['k']anything",
        6: "['b'][<flat index 0>]",
        7: "['l'].weight[0]",
        8: "['l'].bias",
    }
    paths = [path for path, _ in tu.tree_leaves_with_path(x)]
    assert (DictKey("b"), FlattenedIndexKey(0)) in paths
    assert (DictKey("l"), GetAttrKey("weight"), SequenceKey(0)) in paths


def test_paths_stop_at_leaves_of_the_users_choice():
    pairs, treedef = tu.tree_flatten_with_path({"a": (1, 2)}, is_leaf=lambda x: type(x) is tuple)
    assert pairs == [((DictKey("a"),), (1, 2))]
    assert treedef == tu.tree_structure({"a": 0})


def test_keys_are_values():
    assert SequenceKey(1) == SequenceKey(1) != FlattenedIndexKey(1)
    assert len({DictKey("a"), DictKey("a"), GetAttrKey("a")}) == 2
    assert tu.keystr(()) == ""


# ---- Registration ----


@pytest.mark.parametrize(
    "register",
    [
        lambda cls: tu.register_pytree_node(cls, lambda x: ((), None), lambda _, c: cls()),
        lambda cls: tu.register_pytree_with_keys(cls, lambda x: ((), None), lambda _, c: cls()),
        lambda cls: tu.register_dataclass(cls, [], []),
        tu.register_static,
    ],
)
def test_registering_twice(register):
    class Once:
        pass

    register(Once)
    with pytest.raises(ValueError, match=r"Once.*already registered"):
        register(Once)


class Both:
    """A class of JAX's libraries: one function for keys, and a faster one without."""

    def __init__(self, content):
        self.content = content


def _with_keys(both: Both):
    return [(GetAttrKey(name), x) for name, x in both.content.items()], tuple(both.content)


def _without_keys(both: Both):
    taken.append(both)
    return tuple(both.content.values()), tuple(both.content)


taken: list[Both] = []
tu.register_pytree_with_keys(
    Both, _with_keys, lambda names, xs: Both(dict(zip(names, xs, strict=True))), _without_keys
)


def test_a_function_without_keys_runs_where_none_are_asked_for():
    both = Both({"w": 1, "b": [2]})
    taken.clear()
    leaves, structure = tu.tree_flatten([both])
    assert (leaves, taken) == ([1, 2], [both])
    taken.clear()
    paths, same = tu.tree_flatten_with_path([both])
    assert [tu.keystr(path) for path, _ in paths] == ["[0].w", "[0].b[0]"]
    assert not taken
    assert same == structure
    assert hash(same) == hash(structure)


def test_errors_tell_keys_that_were_not_asked_for():
    with pytest.raises(ValueError, match=r"differs first at \[0\]\.b:"):
        tu.tree_map(lambda x, y: x, [Both({"w": 1, "b": [2]})], [Both({"w": 1, "b": (2,)})])
    ordered = collections.OrderedDict(b=(1,), a=2)
    with pytest.raises(ValueError, match=r"differs first at \['b'\]:"):
        tu.tree_map(lambda x, y: x, {"a": 1, "b": [2]}, ordered)


def test_a_method_without_keys_runs_where_none_are_asked_for():
    @tu.register_pytree_with_keys_class
    class Double(Keyed):
        def tree_flatten(self):
            return (2 * self.a, 2 * self.b), None

    assert tu.tree_leaves(Double(1, 2)) == [2, 4]
    assert tu.tree_leaves_with_path(Double(1, 2))[0] == ((GetAttrKey("a"),), 1)


def test_only_classes_are_registered():
    with pytest.raises(TypeError):
        tu.register_pytree_node("list", list, list)


def test_a_subclass_is_a_leaf():
    class Sub(Keyed):
        pass

    x = Sub(1, 2)
    assert tu.tree_leaves(x) == [x]


def test_keys_given_to_register_pytree_node():
    class Pair(list):
        pass

    tu.register_pytree_node(
        Pair,
        lambda x: (tuple(x), None),
        lambda _, children: Pair(children),
        lambda x: ([(DictKey("first"), x[0]), (DictKey("second"), x[1])], None),
    )
    x = Pair([1, [2]])
    assert tu.tree_leaves(x) == [1, 2]
    assert [tu.keystr(p) for p, _ in tu.tree_leaves_with_path(x)] == ["['first']", "['second'][0]"]
    assert type(tu.tree_map(operator.neg, x)) is Pair


def test_a_dataclass_with_named_fields():
    @functools.partial(
        tu.register_dataclass, data_fields=["x"], meta_fields=["n"], drop_fields=["c"]
    )
    @dataclasses.dataclass
    class State:
        n: int
        x: object
        c: str = "fresh"
        double: int = dataclasses.field(init=False, default=0)

        def __post_init__(self):
            self.double = 2 * self.n

    back = tu.tree_map(operator.neg, State(3, [1, 2], "used"))
    assert back == State(3, [-1, -2], "fresh")
    assert back.double == 6
    assert tu.tree_structure(State(3, 0)) != tu.tree_structure(State(4, 0))


def test_a_field_that_the_constructor_does_not_take():
    @tu.register_dataclass
    @dataclasses.dataclass
    class Circle:
        radius: object
        area: object = dataclasses.field(init=False)

        def __post_init__(self):
            self.area = 3 * self.radius**2

    assert tu.tree_leaves(Circle(2)) == [2]
    assert tu.tree_map(operator.neg, Circle(2)) == Circle(-2)


def test_dataclasses_that_do_not_fit():
    @dataclasses.dataclass
    class Three:
        a: int
        b: int
        c: int

    with pytest.raises(ValueError, match="missing: c; unknown: d"):
        tu.register_dataclass(Three, ["a", "d"], ["b"])
    with pytest.raises(ValueError, match="there twice: a, b"):
        tu.register_dataclass(Three, ["a", "b"], ["b", "c"], ["a"])
    with pytest.raises(TypeError, match="needs data_fields and meta_fields, or neither"):
        tu.register_dataclass(Three, ["a"])
    with pytest.raises(TypeError, match="is not a dataclass"):
        tu.register_dataclass(int)
    assert tu.all_leaves([Three(1, 2, 3)])


# ---- Partial ----


def test_partial_is_a_function_and_a_tree():
    f = Partial(lambda a, b, *, c: (a, b, c), 1, c=3)
    assert f(2) == (1, 2, 3)
    assert tu.tree_leaves(f) == [1, 3]
    assert tu.tree_map(operator.neg, f)(2) == (-1, 2, -3)


def test_partials_of_partials():
    f = lambda *args: args
    own, plain = Partial(f, 1), functools.partial(f, 1)
    own.note = "an attribute"
    assert tu.tree_leaves(Partial(own, 2)) == [1, 2]
    assert Partial(own, 2)(3) == (1, 2, 3)
    assert tu.tree_leaves(Partial(plain, 2)) == [2]
    assert Partial(plain, 2)(3) == (1, 2, 3)
    assert tu.tree_structure(Partial(plain, 2)) == tu.tree_structure(Partial(plain, 5))
    assert Partial(plain, 2).func == plain == Partial(plain, 3).func
    assert hash(Partial(plain, 2).func) == hash(plain)
    assert tu.tree_map(operator.neg, Partial(plain, 2))(3) == (1, -2, 3)


def test_partial_of_a_plain_partial_as_jax():
    jtu = pytest.importorskip("jax", reason="JAX, the oracle, is not installed").tree_util
    plain = functools.partial(max, 1)
    assert tu.tree_leaves(Partial(plain, 2)) == jtu.tree_leaves(jtu.Partial(plain, 2))


def test_examples():
    result = doctest.testmod(tree_registry)
    assert result.attempted > 0
    assert result.failed == 0


def test_static_fields_may_say_otherwise():
    assert irax.tree.static().metadata == {"static": True}
    assert irax.tree.static(metadata={"a": 1}).metadata == {"static": True, "a": 1}
    assert irax.tree.static(metadata={"static": False}).metadata == {"static": False}


def test_a_named_tuple_may_be_a_node_of_another_kind():
    class Pair(collections.namedtuple("Pair", ["x", "y"])):
        pass

    tu.register_pytree_node(Pair, lambda p: ([p.y], p.x), lambda x, ys: Pair(x, *ys))
    assert tu.tree_leaves(Pair(1, 2)) == [2]
    assert tu.tree_map(lambda n: n + 1, Pair(1, 2)) == Pair(1, 3)


class Held:
    """Takes arrays alone: no numbers of places, and no types."""

    def __init__(self, x):
        self.x = irax.numpy.asarray(x)


tu.register_pytree_node(Held, lambda held: ((held.x,), None), lambda _, xs: Held(*xs))


def test_classes_that_take_arrays_alone():
    held = Held([1.0, 2.0])
    assert irax.vmap(lambda h: h)(held).x.tolist() == [1, 2]
    assert irax.jit(irax.vmap(lambda h: h, out_axes=-1))(held).x.tolist() == [1, 2]
    assert irax.grad(lambda h: (h.x**2).sum())(held).x.tolist() == [2, 4]


def test_what_a_pullback_needs_of_keys_and_classes():
    key = irax.random.key(0)
    _, pullback = irax.vjp(lambda h, k, n, y: (h.x**2).sum() * y, Held([1.0]), key, None, 2.0)
    held, words, nothing, y = pullback.args_res
    assert [x.tolist() for x in held] == [[1.0]]
    assert [type(x).__name__ for x in words] == ["NotNeeded"]
    assert nothing == ()
    assert y == 2


def test_static_data_that_cannot_be_compared_does_not_stop_other_calls():
    @irax.tree_util.register_pytree_node_class
    class Tagged:
        def __init__(self, x, tag):
            self.x, self.tag = x, tag

        def tree_flatten(self):
            return (self.x,), self.tag

        @classmethod
        def tree_unflatten(cls, tag, children):
            return cls(*children, tag)

    double = irax.jit(lambda t: t.x * 2 + np.sum(t.tag))
    x = np.ones(2, np.float32)
    for tag in (np.arange(3), np.arange(3), 3, np.arange(4), 5, np.arange(3), 3):
        for _ in range(2):
            np.testing.assert_array_equal(double(Tagged(x, tag)), 2 + np.sum(tag) + 0 * x)


# ---- Functions that do not fit ----


@pytest.mark.parametrize("parts", ["hello", (2, 3, 4), (7, 7), None, 3, ((1,),)], ids=repr)
def test_what_an_instance_is_taken_apart_into_is_checked(parts):
    class Odd:
        pass

    class OddWithKeys:
        pass

    tu.register_pytree_node(Odd, lambda _: parts, lambda _, children: Odd())
    tu.register_pytree_with_keys(OddWithKeys, lambda _: parts, lambda _, children: OddWithKeys())
    for tree in (Odd(), [OddWithKeys()]):
        for use in (
            tu.tree_leaves,
            tu.tree_leaves_with_path,
            functools.partial(tu.tree_map, abs),
            irax.jit(lambda _: 1.0),
        ):
            with pytest.raises(ValueError, match=r"apart must return a pair of .* and static data"):
                use(tree)


def test_children_may_be_any_iterable():
    class Lazy:
        def __init__(self, *xs):
            self.xs = xs

    tu.register_pytree_node(Lazy, lambda z: ((x for x in z.xs), None), lambda _, xs: Lazy(*xs))
    assert tu.tree_map(operator.neg, Lazy(1, 2)).xs == (-1, -2)
    assert irax.jit(lambda z: z.xs[0] + z.xs[1])(Lazy(1, 2)) == 3


def test_is_leaf_returns_a_bool():
    for answer in ("no", np.ones(2), ()):
        with pytest.raises(ValueError, match="is_leaf must return True or False, got "):
            tu.tree_leaves((1, 2), is_leaf=lambda _, answer=answer: answer)
        with pytest.raises(ValueError, match="is_leaf must return True or False, got "):
            tu.tree_leaves_with_path((1, 2), is_leaf=lambda _, answer=answer: answer)
    for answer, leaves in ((None, [1, 2]), (np.True_, [(1, 2)]), (0, [1, 2])):
        assert tu.tree_leaves((1, 2), is_leaf=lambda _, answer=answer: answer) == leaves


def test_static_data_that_cannot_be_compared():
    class Never:
        __hash__ = object.__hash__

        def __eq__(self, other):
            raise TypeError("never equal")

    @tu.register_static
    class Held(Never):
        pass

    for data in (np.arange(3), irax.numpy.arange(3)):
        a, b = tu.tree_structure(Tagged(data)), tu.tree_structure(Tagged(data + 0))
        with pytest.raises(ValueError, match=r"static data must be hashable.* arrays must be leav"):
            assert a == b
    with pytest.raises(ValueError, match="never equal"):
        assert tu.tree_structure(Held()) == tu.tree_structure(Held())


class Tagged:
    def __init__(self, tag):
        self.tag = tag


tu.register_pytree_node(Tagged, lambda tagged: ((), tagged.tag), lambda tag, _: Tagged(tag))
