"""Pytrees: containers, structures, mapping, prefixes, and the errors."""

import collections
import copy
import dataclasses
import doctest
import operator
import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irax
from irax import tree
from irax import tree_util as tu
from irax.tree_util import DictKey, GetAttrKey, Partial

Point = collections.namedtuple("Point", ["x", "y"])


@tu.register_pytree_node_class
class Box:
    """Registered without keys; the label is static."""

    def __init__(self, *content, label=""):
        self.content, self.label = content, label

    def tree_flatten(self):
        return self.content, self.label

    @classmethod
    def tree_unflatten(cls, label, content):
        return cls(*content, label=label)

    def __eq__(self, other):
        return (self.content, self.label) == (other.content, other.label)

    def __repr__(self):
        return f"Box(*{self.content}, label={self.label!r})"


@tu.register_pytree_with_keys_class
class Keyed:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten_with_keys(self):
        return [(GetAttrKey("a"), self.a), ("anything", self.b)], None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@tu.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object = None
    name: str = dataclasses.field(default="", metadata={"static": True})


@tu.register_static
@dataclasses.dataclass(frozen=True)
class Mode:
    training: bool


ZOO = [
    1,
    None,
    (),
    [],
    {},
    (1, [2, (3,)]),
    {"b": 1, "a": {"d": 2, "c": None}},
    {2: "two", 1: "one"},
    Point(1, Point(2, [3])),
    collections.OrderedDict([("b", 1), ("a", 2)]),
    collections.defaultdict(list, {"b": 1, "a": [2]}),
    [Box(1, {"x": 2}, label="l"), Box()],
    Layer(1, [2], "first"),
    (Mode(True), 1),
    Partial(max, 1, key=2),
]


@pytest.fixture
def jtu():
    jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
    return jax.tree_util


def plain_trees():
    keys = st.sampled_from(["a", "b", "c"])
    return st.recursive(
        st.integers(0, 99) | st.none(),
        lambda t: (
            st.lists(t, max_size=3)
            | st.lists(t, max_size=3).map(tuple)
            | st.dictionaries(keys, t, max_size=3)
            | st.lists(st.tuples(keys, t), max_size=2).map(collections.OrderedDict)
            | st.builds(Point, t, t)
        ),
        max_leaves=12,
    )


# ---- Taking apart and putting together ----


@pytest.mark.parametrize("x", ZOO, ids=repr)
def test_there_and_back(x):
    leaves, treedef = tu.tree_flatten(x)
    back = tu.tree_unflatten(treedef, leaves)
    assert type(back) is type(x)
    assert tu.tree_structure(back) == treedef == tu.tree_structure(copy.deepcopy(x))
    assert hash(treedef) == hash(tu.tree_structure(back))
    assert tu.tree_leaves(back) == leaves == tu.tree_leaves(x)
    assert treedef.num_leaves == len(leaves)
    if not isinstance(x, Partial):
        assert back == x


@given(plain_trees())
def test_there_and_back_of_any(x):
    leaves, treedef = tu.tree_flatten(x)
    assert treedef.unflatten(leaves) == x


@given(plain_trees())
def test_leaves_and_paths_as_jax(x):
    jtu = pytest.importorskip("jax", reason="JAX, the oracle, is not installed").tree_util
    assert tu.tree_leaves(x) == jtu.tree_leaves(x)
    assert tu.tree_structure(x).num_nodes == jtu.tree_structure(x).num_nodes
    ours, theirs = tu.tree_leaves_with_path(x), jtu.tree_leaves_with_path(x)
    assert [(tu.keystr(path), leaf) for path, leaf in ours] == [
        (jtu.keystr(path), leaf) for path, leaf in theirs
    ]
    for (path, _), (jax_path, _) in zip(ours, theirs, strict=True):
        assert [repr(key) for key in path] == [repr(key) for key in jax_path]
        for options in ({"simple": True}, {"simple": True, "separator": "/"}, {"separator": "/"}):
            assert tu.keystr(path, **options) == jtu.keystr(jax_path, **options)


def test_what_a_container_keeps():
    default = tu.tree_map(operator.neg, collections.defaultdict(list, a=1))
    assert default["new"] == []
    ordered = tu.tree_map(operator.neg, collections.OrderedDict([("b", 1), ("a", 2)]))
    assert list(ordered.items()) == [("b", -1), ("a", -2)]


class Line(collections.deque):
    """A container of a user's, of a class that optree takes apart."""


def test_registered_subclasses_of_deques_are_nodes():
    tu.register_pytree_node(Line, lambda d: (list(d), None), lambda _, c: Line(c))
    line = Line([Line(), Line([np.ones(2, np.float32), 1.0])])
    assert len(tree.leaves(line)) == 2
    found, _ = irax.lax.scan(lambda c, _: (c, None), (0, line), length=2)
    assert [type(x) for x in (found[1], *found[1])] == [Line] * 3


@pytest.mark.parametrize("leaf", [collections.deque([1, 2]), time.gmtime(0)], ids=["deque", "C"])
def test_other_sequences_are_leaves(leaf):
    """As in JAX, though optree takes them apart."""
    tree = {"a": leaf, "b": [3]}
    assert [x is leaf for x in tu.tree_leaves(tree)] == [True, False]
    assert tu.tree_structure(tree) == tu.tree_structure({"a": 1, "b": [2]})
    assert tu.keystr(tu.tree_leaves_with_path(tree)[0][0]) == "['a']"
    seen = tu.tree_map_with_path(
        lambda path, x: (path, x), tree, is_leaf=lambda path, x: x == [3], is_leaf_takes_path=True
    )
    assert (seen["a"][1], seen["b"][1]) == (leaf, [3])
    assert tu.tree_map(lambda x: x, tree)["a"] is leaf
    assert tu.tree_map(lambda x, y: y, {"a": 1, "b": [2]}, tree)["a"] is leaf
    assert tu.prefix_broadcast({"a": 0, "b": 1}, tree) == [0, 1]
    assert tu.all_leaves([leaf])
    assert not tu.is_tree_node(type(leaf))
    with pytest.raises(ValueError, match="expected a container"):
        tu.flatten_one_level(leaf)
    with pytest.raises(TypeError, match=r"deque|struct_time"):
        irax.jit(lambda tree: 0)(tree)


def test_structures_differ_where_anything_but_a_leaf_does():
    trees = [1, None, (), [], {}, (1,), [1], [1, 2], {"a": 1}, {"b": 1}, Point(1, 2), (1, 2)]
    trees += [Box(1), Box(1, label="x"), Layer(1), Layer(1, 2), Layer(1, 2, "x"), Mode(True)]
    trees += [Mode(False), Partial(max, 1), Partial(min, 1), Partial(max, key=1)]
    trees += [collections.OrderedDict(a=1)]
    treedefs = [tu.tree_structure(x) for x in trees]
    for i, a in enumerate(treedefs):
        for j, b in enumerate(treedefs):
            assert (a == b) == (i == j), (trees[i], trees[j])


def test_the_order_in_which_a_dict_was_filled_does_not_matter():
    assert tu.tree_structure({"a": 1, "b": 2}) == tu.tree_structure({"b": 2, "a": 1})
    assert tu.tree_leaves({"b": 2, "a": 1}) == [1, 2]


def test_is_leaf():
    pair = lambda x: isinstance(x, tuple)
    x = [(1, 2), {"a": (3, 4)}, None]
    assert tu.tree_leaves(x, is_leaf=pair) == [(1, 2), (3, 4)]
    assert tu.tree_structure(x, is_leaf=pair) == tu.tree_structure([0, {"a": 0}, None])
    assert tu.tree_leaves(x, is_leaf=lambda x: x is None) == [1, 2, 3, 4, None]
    assert tu.tree_map(sum, x, is_leaf=pair) == [3, {"a": 7}, None]
    assert tu.all_leaves([(1, 2), 3], is_leaf=pair)


@pytest.mark.parametrize("leaves", [[], [1], [1, 2, 3]])
def test_the_wrong_number_of_leaves(leaves):
    with pytest.raises(ValueError, match=r"leaves for PyTreeSpec; expected: 2"):
        tu.tree_unflatten(tu.tree_structure([0, 0]), leaves)


def test_structures_pickle():
    for x in (*ZOO[:-1], Partial(max, 1, key=2)):
        treedef = tu.tree_structure(x)
        assert pickle.loads(pickle.dumps(treedef)) == treedef


# ---- Mapping and reducing ----


def test_tree_map():
    x = {"a": 1, "b": [2, None, Box(3, label="l")]}
    assert tu.tree_map(lambda v: v * 2, x) == {"a": 2, "b": [4, None, Box(6, label="l")]}
    assert tu.tree_map(lambda v, w, u: (v, w, u), [1], [2], [3]) == [(1, 2, 3)]
    assert tu.tree_map(lambda v, w: w, [0, 0], [(1, 2), None]) == [(1, 2), None]
    assert tu.tree_multimap is tu.tree_map


def test_an_error_in_the_function_comes_through():
    def f(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        tu.tree_map(f, [1, 2])


def test_tree_map_with_path():
    x = {"a": [1, 2]}
    paths = tu.tree_map_with_path(lambda path, v, w: (tu.keystr(path), v + w), x, {"a": [10, 20]})
    assert paths == {"a": [("['a'][0]", 11), ("['a'][1]", 22)]}
    whole = tu.tree_map_with_path(lambda p, v: (p, v), x, is_leaf=lambda v: isinstance(v, list))
    assert whole == {"a": ((DictKey("a"),), [1, 2])}


def test_reductions():
    x = {"a": "x", "b": ["y", None, "z"]}
    assert tu.tree_reduce(operator.add, x) == "xyz"
    assert tu.tree_reduce(operator.add, x, "w") == "wxyz"
    assert tu.tree_reduce(operator.add, [], initializer=None) is None
    assert tu.tree_reduce(max, [(1, 5), (2, 3)], is_leaf=lambda x: isinstance(x, tuple)) == (2, 3)
    with pytest.raises(TypeError):
        tu.tree_reduce(operator.add, [])
    assert tu.tree_all([1, None, {"a": True}])
    assert not tu.tree_all([1, {"a": 0}])
    assert tu.tree_all([(0,)], is_leaf=lambda x: isinstance(x, tuple))


@given(plain_trees(), plain_trees())
def test_transpose_twice(outer, inner):
    outer, inner = tu.tree_structure(outer), tu.tree_structure(inner)
    count = outer.num_leaves * inner.num_leaves
    x = outer.compose(inner).unflatten(range(count))
    once = tu.tree_transpose(outer, inner, x)
    assert tu.tree_structure(once) == inner.compose(outer) or count == 0
    if count:
        assert tu.tree_transpose(inner, outer, once) == x
        assert tu.tree_transpose(outer, None, x) == once


def test_transpose_of_nothing():
    empty, pair = tu.tree_structure([]), tu.tree_structure((0, 0))
    assert tu.tree_transpose(empty, pair, []) == ([], [])
    assert tu.tree_transpose(pair, empty, ([], [])) == []
    with pytest.raises(ValueError, match="give inner_treedef"):
        tu.tree_transpose(empty, None, [])


# ---- Structures ----


def test_treedefs():
    leaf, pair = tu.tree_structure(0), tu.tree_structure([0, Box(0)])
    assert tu.treedef_tuple([leaf, pair]) == tu.tree_structure((0, [0, Box(0)]))
    assert tu.treedef_tuple([]) == tu.tree_structure(())
    assert tu.treedef_children(pair) == [leaf, tu.tree_structure(Box(0))]
    assert tu.treedef_children(leaf) == []
    assert isinstance(pair, tu.PyTreeDef)


BOTH_KNOW = [x for x in ZOO if isinstance(x, int | None | Point | dict) or x in ((), [], ZOO[5])]
"""Trees of classes that JAX's registry has, too."""


@pytest.mark.parametrize("x", BOTH_KNOW, ids=repr)
def test_structures_are_shown_and_taken_apart_as_in_jax(jtu, x):
    for make in (lambda m: x, lambda m: [x, {"z": 1}], lambda m: m.Partial(max, x, key=2)):
        ours, theirs = (m.tree_structure(make(m)) for m in (tu, jtu))
        assert repr(ours) == repr(theirs)
        assert (ours.num_leaves, ours.num_nodes) == (theirs.num_leaves, theirs.num_nodes)
        assert [repr(child) for child in ours.children()] == [repr(c) for c in theirs.children()]
        assert walked(ours) == walked(theirs)


def walked(treedef):
    """The static data of the top node, what a walk returns, and the data that it meets."""
    data, met = treedef.node_data(), []
    total = treedef.walk(
        lambda node, data: met.append(data) or node, lambda x: x + 1, range(treedef.num_leaves)
    )
    return data and (data[0].__name__, data[1]), total, met


def test_structures_of_registered_classes_are_shown_as_in_jax():
    text = "PyTreeDef([CustomNode(Box[l], [*]), CustomNode(Layer[('n',)], [*, None])])"
    structure = tu.tree_structure([Box(1, label="l"), Layer(1, None, "n")])
    assert repr(structure) == text
    assert pickle.loads(pickle.dumps(structure)) == structure


@pytest.mark.parametrize("x", [1, None, (), [], {}, (1,), [()]])
def test_treedef_is_leaf_as_jax(jtu, x):
    ours = tu.treedef_is_leaf(tu.tree_structure(x))
    assert ours == jtu.treedef_is_leaf(jtu.tree_structure(x))


# ---- Prefixes ----


@pytest.mark.parametrize(
    "prefix, x, expected",
    [
        (0, (1, [2, 3]), [0, 0, 0]),
        (None, {"a": 1, "b": 2}, [None, None]),
        ((0, None), (1, [2, 3]), [0, None, None]),
        ([0, None], (1, [2, 3]), [0, None, None]),  # a list at the top does for a tuple
        (({"a": 0, "b": None}, 1), ({"a": [1, 2], "b": 3}, 4), [0, 0, None, 1]),
        ((0, 1), (None, 5), [1]),
        ((None, 1), (None, 5), [1]),
        (Layer(0, None, "n"), Layer([1, 2], 3, "n"), [0, 0, None]),
        ([Box(None, 7)], [Box((1, 2), 3)], [None, None, 7]),
        ({"a": 0}, collections.OrderedDict(a=1), [0]),
        ((), (), []),
        (0, (), []),
    ],
)
def test_prefix_broadcast(prefix, x, expected):
    assert tu.prefix_broadcast(prefix, x) == expected


def test_prefix_broadcast_with_is_leaf():
    pair = lambda x: isinstance(x, tuple)
    assert tu.prefix_broadcast([("x", "y"), 0], [{"a": 1, "b": 2}, 3], is_leaf=pair) == [
        ("x", "y"),
        ("x", "y"),
        0,
    ]


@given(plain_trees(), st.data())
def test_prefix_broadcast_is_what_tree_map_does(x, data):
    # Cut the tree off at some of its nodes: what is left is a prefix of it, with numbered leaves.
    subtrees, treedef = tu.tree_flatten(x, is_leaf=lambda _: data.draw(st.booleans()))
    prefix = treedef.unflatten(range(len(subtrees)))
    expected = [i for i, sub in enumerate(subtrees) for _ in tu.tree_leaves(sub)]
    assert tu.prefix_broadcast(prefix, x) == expected


# ---- The errors ----

DIFFERENT = [
    # prefix or first tree, the other, where, expected, got
    ([1, 2], (1, 2), "the top", "list of 2", "tuple of 2"),
    ([1, 2], [1, 2, 3], "the top", "list of 2", "list of 3"),
    (
        {"a": [1, {"b": 2}]},
        {"a": [1, {"c": 2}]},
        "['a'][1]",
        "dict with keys 'b'",
        "dict with keys 'c'",
    ),
    ({"a": 1}, {"a": 1, "b": 2}, "the top", "dict with keys 'a'", "dict with keys 'a', 'b'"),
    ((1, [2]), (1, 2.0), "[1]", "list of 1", "a leaf of type float"),
    ([Point(1, (2,))], [Point(1, 2)], "[0].y", "tuple of 1", "a leaf of type int"),
    (Box((1,)), Box(1), "[<flat index 0>]", "tuple of 1", "a leaf of type int"),
    (Box(1, label="x"), Box(1, label="y"), "the top", "Box['x']", "Box['y']"),
    (Keyed(1, (2,)), Keyed((1,), 2), "anything", "tuple of 1", "a leaf of type int"),
    (Layer((1,)), Layer(1), ".weight", "tuple of 1", "a leaf of type int"),
    (Point(1, 2), (1, 2), "the top", "Point(x=*, y=*)", "tuple of 2"),
]


def assert_names_the_difference(error, where, expected, got):
    first_lines = "\n".join(str(error).split("\n")[:2])
    assert f"differs first at {where}:" in first_lines
    before, _, after = first_lines.partition(", got ")
    assert expected in before
    assert got in after


@pytest.mark.parametrize("first, other, where, expected, got", DIFFERENT)
def test_a_mismatch_in_tree_map(first, other, where, expected, got):
    for tree_map in (tu.tree_map, tu.tree_map_with_path):
        with pytest.raises(ValueError, match=r"^tree 3 of tree_map\w* must start with") as info:
            tree_map(max, first, first, other)
        assert_names_the_difference(info.value, where, expected, got)


@pytest.mark.parametrize("prefix, x, where, expected, got", DIFFERENT)
def test_a_mismatch_of_a_prefix(prefix, x, where, expected, got):
    with pytest.raises(ValueError, match=r"^args must start with the structure of in_axes") as info:
        tu.prefix_broadcast([prefix], [x], prefix_name="in_axes", tree_name="args")
    if where == "the top":
        where = ""
    assert_names_the_difference(info.value, f"[0]{where}", expected, got)


def test_a_mismatch_shows_both_structures():
    with pytest.raises(ValueError, match="tree_map") as info:
        tu.tree_map(max, {"a": [1, 2]}, {"a": [1, Box(label="l")], "b": None})
    assert str(info.value) == (
        "tree 2 of tree_map must start with the structure of the first tree, but differs first at "
        "the top: Dict key mismatch;\n"
        "  expected dict with keys 'a', got dict with keys 'a', 'b'\n"
        "  the first tree: {'a': [*, *]}\n"
        "  tree 2 of tree_map: {'a': [*, CustomTreeNode(Box['l'], [])], 'b': None}"
    )


def test_none_against_a_value():
    with pytest.raises(ValueError, match=r"differs first at \[1\]:\n  expected None, got a leaf"):
        tu.tree_map(max, [1, None], [1, 2])
    with pytest.raises(
        ValueError, match=r"differs first at \[1\]:\n  expected list of 1, got None"
    ):
        tu.tree_map(max, [1, [2]], [1, None])
    with pytest.raises(
        ValueError, match=r"differs first at \[1\]:\n  expected list of 1, got a leaf"
    ):
        tu.prefix_broadcast([1, [2]], [1, None])


@pytest.mark.parametrize("cut", [("a",), ("a", 1), ("b", "x"), (), ("none",)])
def test_is_leaf_that_takes_the_path(cut):
    x = {"b": {"x": (1, 2)}, "a": [3, [4, None]], "none": None}

    def is_leaf(path, node):
        assert seen.append((path, node)) is None
        return tuple(getattr(k, "key", getattr(k, "idx", None)) for k in path) == cut

    results = []
    for module in (tu, pytest.importorskip("jax").tree_util):
        seen = []
        pairs, treedef = module.tree_flatten_with_path(x, is_leaf, is_leaf_takes_path=True)
        assert module.tree_leaves_with_path(x, is_leaf, True) == pairs
        assert module.tree_unflatten(treedef, [leaf for _, leaf in pairs]) == x
        named = module.tree_map_with_path(
            lambda p, v: (str(p), v), x, is_leaf=is_leaf, is_leaf_takes_path=True
        )
        results.append((str(pairs), named, [(module.keystr(path), node) for path, node in seen]))
    ours, theirs = results
    assert ours == theirs


def test_a_mismatch_in_transpose():
    outer, inner = tu.tree_structure([0, 0]), tu.tree_structure({"a": 0})
    with pytest.raises(
        TypeError, match=r"at \[1\]: .*\n  expected dict with keys 'a', got dict with keys 'b'"
    ):
        tu.tree_transpose(outer, inner, [{"a": 1}, {"b": 2}])
    with pytest.raises(TypeError, match=r"at \[0\]\['a'\]:\n  expected a leaf, got list of 1"):
        tu.tree_transpose(outer, inner, [{"a": [1]}, {"a": 2}])
    with pytest.raises(ValueError, match=r"the outer structure.*at the top:\n  expected list of 2"):
        tu.tree_transpose(outer, None, [1])


def test_large_structures_are_cut():
    with pytest.raises(ValueError, match="cut") as info:
        tu.tree_map(max, [[1] * 5000], [[1] * 4999])
    assert len(str(info.value)) < 4000


# ---- The short names ----


@pytest.mark.parametrize("name", sorted({*tree.__all__} - {"static"}))
def test_the_short_names(name):
    short = getattr(tree, name)
    assert short.__code__ is getattr(tu, f"tree_{name}").__code__
    assert short.__name__ == name
    assert pickle.loads(pickle.dumps(short)) is short


def test_examples():
    result = doctest.testmod(tu)
    assert result.attempted > 0
    assert result.failed == 0


def test_associative_reductions_and_broadcasts():
    words = [["a", ("b", {"x": "c"})], "d", "e"]
    assert tree.reduce_associative(lambda x, y: x + y, words) == "abcde"
    assert tree.reduce_associative(lambda x, y: x + y, [], identity=7) == 7
    with pytest.raises(TypeError, match="needs an identity"):
        tree.reduce_associative(lambda x, y: x + y, [])
    full = (0, {"a": 0, "b": [0, 0]})
    assert tree.broadcast((1, {"a": 2, "b": 3}), full) == (1, {"a": 2, "b": [3, 3]})
    with pytest.raises(ValueError, match="prefix"):
        tree.broadcast((1, 2, 3), full)


def test_static_fields():
    @tu.register_dataclass
    @dataclasses.dataclass
    class Layer:
        x: float
        name: str = tree.static(default="a", metadata={"more": 1})

    assert tree.leaves(Layer(1.5)) == [1.5]
    assert tree.map(lambda v: v + 1, Layer(1.5, "b")) == Layer(2.5, "b")
    assert dataclasses.fields(Layer)[1].metadata == {"more": 1, "static": True}


def test_dicts_that_are_put_together_have_their_keys_in_order():
    made = {"b": 1.0, "a": {"d": 2.0, "c": 3.0}}
    expected = [["a", "b"], ["c", "d"]]
    keys = lambda tree: [list(tree), list(tree["a"])]
    leaves, structure = tu.tree_flatten(made)
    assert keys(structure.unflatten(leaves)) == expected
    assert keys(tu.tree_map(lambda x: x, made)) == expected
    assert keys(irax.grad(lambda tree: tree["b"] * tree["a"]["d"])(made)) == expected
    assert keys(irax.vmap(lambda x: {"b": x, "a": {"d": x, "c": x}})(np.ones(2))) == expected
    assert keys(irax.eval_shape(lambda tree: tree, made)) == expected
    seen = []
    again = irax.jit(lambda tree: seen.append(keys(tree)) or {"b": tree["b"], "a": tree["a"]})
    assert keys(again(made)) == expected
    assert keys(again(made)) == expected
    assert seen == [expected]
    factories = tu.tree_map(lambda x: x, collections.defaultdict(list, {"b": 1, "a": 2}))
    assert list(factories) == ["a", "b"]
    assert factories["c"] == []
    assert list(tu.tree_map(lambda x: x, collections.OrderedDict(b=1, a=2))) == ["b", "a"]


UNORDERED = [
    {1: 1.0, "a": 2.0},
    ({None: 1.0, 2: 2.0},),
    collections.defaultdict(int, {1: 1, "a": 2}),
]


@pytest.mark.parametrize("given", UNORDERED)
@pytest.mark.parametrize(
    "function",
    [
        *(tree.flatten, tree.leaves, tree.structure, tree.leaves_with_path, tree.all),
        lambda t: tree.map(lambda x: x, t),
        lambda t: tree.reduce(operator.add, t),
        lambda t: irax.jit(lambda t: 1.0)(t),
        lambda t: irax.jit(lambda: t)(),
        lambda t: irax.vmap(lambda x: t)(np.ones(2)),
    ],
)
def test_keys_without_an_order(function, given):
    with pytest.raises(ValueError, match=r"keys of a dict .* must have an order, got \[(1|None), "):
        function(given)


def test_one_key_needs_no_order():
    assert tree.map(lambda x: x + 1, {1j: 1}) == {1j: 2}
    mixed = collections.OrderedDict({1: 1, "a": 2})
    assert tree.leaves(mixed) == [1, 2]


def test_dictionaries_with_other_keys_are_told_in_the_words_of_jax():
    with pytest.raises(
        ValueError, match=r"at \['a'\]: Dict key mismatch;\n  expected dict with keys 'b'"
    ):
        tu.tree_map(lambda x, y: x, {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}})


def test_the_registry_is_an_object():
    registry = tu.default_registry

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    assert not registry.is_node(Pair)
    assert registry.flatten_one_level(Pair(1, 2)) is None
    registry.register_node(Pair, lambda p: ((p.a, p.b), "pair"), lambda _, ab: Pair(*ab))
    assert registry.is_node(Pair)
    assert registry.flatten_one_level(Pair(1, [2])) == ((1, [2]), "pair")
    leaves, structure = registry.flatten({"p": Pair(1, [2])})
    assert leaves == [1, 2]
    assert structure == tu.tree_structure({"p": Pair(1, [2])})
    (((key,), child),), static = registry.flatten_one_level_with_keys({"a": 1})
    assert (key.key, child, static) == ("a", 1, ("a",))
    assert registry.flatten_one_level_with_keys(3) is None
    assert registry.flatten_with_path([4])[0] == [((tu.SequenceKey(0),), 4)]
