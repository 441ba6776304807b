"""Calls of a jitted function with the signature of the last call, which take a short way."""

import functools
import sys
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import optree
import pytest

import irax
import irax.numpy as jnp
from irax.core.trees.array_trees import flatten_tangents
from irax.core.trees.known_structures import taking
from irax.execution import bound_call, programs


class Traced:
    """A jitted function that counts how often it is traced."""

    def __init__(self, fun, **options):
        self.count = 0

        def counted(*args, **kwargs):
            self.count += 1
            return fun(*args, **kwargs)

        self.jitted = irax.jit(counted, **options)

    def __call__(self, *args, **kwargs):
        return self.jitted(*args, **kwargs)


def twice(f, *args, **kwargs):
    """Call a function two times, and return what the second call gave."""
    f(*args, **kwargs)
    return f(*args, **kwargs)


X = jnp.arange(3.0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "other",
    [
        jnp.arange(4.0),
        jnp.arange(3),
        jnp.arange(3.0).astype("bfloat16"),
        np.arange(3.0, dtype=np.float32),
        np.arange(6.0)[::2],
        2.0,
        2,
        True,
        2j,
        np.float32(2.0),
    ],
    ids=lambda x: f"{type(x).__name__} {getattr(x, 'dtype', x)}",
)
def test_another_signature_is_not_taken_for_the_last(other):
    f = irax.jit(lambda x, y: (x * 2, y))
    for x, y in [(X, X[0]), (other, X[0]), (X, X[0]), (X, other), (X, other), (X, X[0])]:
        doubled, same = f(x, y)
        expected = jnp.asarray(x) * 2 if isinstance(x, np.ndarray) else x * 2
        assert doubled.dtype == jnp.asarray(expected).dtype
        np.testing.assert_array_equal(doubled, expected)
        np.testing.assert_array_equal(same, y)
        assert (same.dtype, same.weak_type) == (irax.typeof(y).dtype, irax.typeof(y).weak_type)


def test_signatures_are_traced_once_each():
    f = Traced(lambda tree, **kwargs: sum(irax.tree_util.tree_leaves((tree, kwargs))))
    calls = [({"a": X},), ([X],), ((X, 1.0),), (X,)]
    for _ in range(3):
        for args in calls:
            twice(f, *args)
        twice(f, X, y=X)
        twice(f, X, z=X)
    assert f.count == len(calls) + 2


def test_numbers_are_what_they_are_at_each_call():
    f = irax.jit(lambda x: 1 / x)
    assert [float(f(x)) for x in (2.0, -0.0, 0.0, float("inf"))] == [0.5, -np.inf, np.inf, 0.0]
    f(1)
    with pytest.raises(OverflowError):
        f(2**40)


def test_an_array_of_numpys_is_read_when_it_is_passed():
    f = irax.jit(lambda x: x)
    x = np.zeros(3000, np.float32)
    results = []
    for i in range(3):
        x[:] = i
        results.append(f(x))
    x[:] = 9
    assert [float(r[0]) for r in results] == [0.0, 1.0, 2.0]


def test_options_that_change_are_seen():
    f = irax.jit(lambda x: jnp.log(x))
    twice(f, -1.0)
    with irax.debug_nans(True), pytest.raises(FloatingPointError):
        f(-1.0)
    with irax.enable_x64(True):
        assert twice(f, 2.0).dtype == np.float64
    assert f(2.0).dtype == np.float32
    g = Traced(jnp.sin)
    twice(g, X)
    with irax.disable_jit():
        twice(g, X)
    assert g.count == 3


def test_within_a_trace_the_function_is_traced():
    f = irax.jit(lambda x: x * x)
    twice(f, 3.0)
    assert float(irax.grad(f)(3.0)) == 6.0
    assert "call" in str(irax.make_ir(lambda x: f(X) + x)(X))


def test_caches_can_be_cleared():
    f = Traced(jnp.sin)
    twice(f, X)
    f.jitted.clear_cache()
    twice(f, X)
    irax.clear_caches()
    twice(f, X)
    assert f.count == 3


class Doubled:
    """A callable object whose attributes have names of methods of jitted functions."""

    def __init__(self):
        self._call = self.lower = self.scale = 2.0

    def __call__(self, x):
        return x * self.scale


def test_attributes_of_a_function_are_kept_beside_methods():
    f = irax.jit(Doubled())
    assert f.scale == 2.0
    assert float(twice(f, 3.0)) == 6.0
    assert "multiply" in f.lower(3.0).as_text()


class Scale:
    """A static argument that can change, with the hash and equality of its contents."""

    def __init__(self, factor):
        self.factor = factor

    def __hash__(self):
        return hash(self.factor)

    def __eq__(self, other):
        return self.factor == other.factor


def test_static_arguments_that_change_are_traced_anew():
    f = irax.jit(lambda scale, x: x * scale.factor, static_argnums=0)
    scale = Scale(2)
    assert float(twice(f, scale, 1.0)) == 2.0
    scale.factor = 3
    assert float(f(scale, 1.0)) == 3.0


@pytest.mark.parametrize("values", [(1, True, 1.0), ("a", "b"), (None, len), ((1,), (2,))])
def test_static_arguments_are_told_apart(values):
    f = Traced(lambda x, what: x if isinstance(what, bool) else x * 2, static_argnums=1)
    for value in (*values, *values):
        doubled = twice(f, X, value)
        np.testing.assert_array_equal(doubled, X if isinstance(value, bool) else X * 2)
    assert f.count == len(values)


@pytest.mark.parametrize(
    "values", [(0.0, -0.0), (0j, complex(0.0, -0.0)), (np.float32(0), -np.float32(0))]
)
def test_static_zeros_are_told_apart_by_their_signs(values):
    f = irax.jit(
        lambda x, n: jnp.copysign(x, n[0].imag if isinstance(n[0], complex) else n[0]),
        static_argnums=1,
    )
    for value in (*values, *values):
        sign = np.imag(value) if isinstance(value, complex) else value
        assert float(twice(f, 2.0, (value,))) == np.copysign(2.0, sign)


def test_static_tuples_are_told_apart_by_the_types_in_them():
    f = irax.jit(lambda x, n: x * jnp.asarray(n[0][0]), static_argnums=1)
    found = [twice(f, True, ((value,),)).dtype for value in (True, 1, 1.0)]
    assert [x.kind for x in found] == ["b", "i", "f"]


def test_a_static_nan_is_traced_once():
    f = Traced(lambda x, n: x * n, static_argnums=1)
    for _ in range(2):
        assert np.isnan(twice(f, 1.0, float("nan")))
    assert f.count == 1


def test_results_of_committed_arrays_are_committed():
    f = irax.jit(lambda x: x + 1)
    there = irax.device_put(X, irax.devices()[0])
    assert [twice(f, x).committed for x in (X, there, X)] == [False, True, False]


def test_static_arguments_by_name_are_told_apart():
    f = Traced(
        lambda x, *, mode, count=1: x * (count if mode == "some" else 0),
        static_argnames=("mode", "count"),
    )
    calls = [{"mode": "some"}, {"mode": "none"}, {"mode": "some", "count": 2}]
    for _ in range(2):
        for options, factor in zip(calls, (1, 0, 2), strict=True):
            np.testing.assert_array_equal(twice(f, X, **options), X * factor)
    assert f.count == len(calls)


def test_several_signatures_in_turn_take_the_short_way(monkeypatch):
    f = irax.jit(lambda tree: irax.tree_util.tree_map(lambda x: x + 1, tree))
    arguments = [X, (X,), {"a": X}, {"a": 2.0}]
    for x in (*arguments, *arguments):
        f(x)
    monkeypatch.setattr(irax.execution.jitted.PjitFunction, "_call", None)
    for x in arguments:
        irax.tree_util.tree_map(lambda a, b: np.testing.assert_array_equal(a, b + 1), f(x), x)


NUMPYS = [
    *(np.float32(2), np.float64(0.1), np.complex128(1j), np.bool_(True)),
    *(np.int16(-3), np.int64(-3), np.uint64(3)),
]


@pytest.mark.parametrize("number", NUMPYS, ids=repr)
def test_numbers_of_numpys_take_the_short_way(number, monkeypatch):
    f = irax.jit(lambda x, y: (x, y + y))
    expected = f(X, number)
    other = type(number)(2 * number)
    f(X, other)
    monkeypatch.setattr(irax.execution.jitted.PjitFunction, "_call", None)
    again = f(X, number)[1]
    assert (again.dtype, again.weak_type) == (expected[1].dtype, expected[1].weak_type)
    np.testing.assert_array_equal(again, expected[1])
    np.testing.assert_array_equal(f(X, other)[1], jnp.asarray(other + other))


def test_numbers_of_numpys_that_do_not_fit_are_refused():
    f = irax.jit(lambda x: x + 1)
    assert int(f(np.int64(3))) == int(f(np.int64(3))) == 4
    for number in (np.int64(2**40), np.int64(2**31), np.int64(-(2**31) - 1)):
        with pytest.raises(OverflowError):
            f(number)
    assert int(f(np.uint64(2**32 - 2))) == int(f(np.uint64(2**32 - 2))) == 2**32 - 1
    with pytest.raises(OverflowError):
        f(np.uint64(2**32))


def test_deleted_arguments_are_refused_however_often_they_were_used():
    f = irax.jit(lambda *xs: sum(xs))
    give_up = irax.jit(lambda x: x + 1, donate_argnums=0)
    arrays = [give_up(jnp.arange(3.0) + n) for n in range(6)]
    for _ in range(4):
        f(*arrays)
    give_up(arrays[4])
    with pytest.raises(RuntimeError, match="was used after its memory had been given up"):
        f(*arrays)


class MyDict(dict):
    pass


Pair, Two = namedtuple("Pair", "a b"), namedtuple("Two", "a b")


class Tagged:
    """A pytree whose structure has a tag, and a dict that is made whenever it is flattened."""

    def __init__(self, content, tag):
        self.content, self.tag = content, tag


irax.tree_util.register_pytree_node(
    Tagged, lambda x: (({"content": x.content},), x.tag), lambda t, c: Tagged(c[0]["content"], t)
)

TREES = {
    "leaf": 1,
    "none": None,
    "tuple": (1, 2),
    "list": [1, 2],
    "pair": Pair(1, 2),
    "two": Two(1, 2),
    "dict": {"a": 1, "b": 2},
    "dict in another order": {"b": 1, "a": 2},
    "more": {"a": 1, "b": 2, "c": 3},
    "fewer": {"a": 1},
    "other keys": {"a": 1, "c": 2},
    "ordered": OrderedDict(a=1, b=2),
    "ordered otherwise": OrderedDict(b=1, a=2),
    "with a default": defaultdict(int, a=1, b=2),
    "with another default": defaultdict(list, a=1, b=2),
    "subclass": MyDict(a=1, b=2),
    "tagged": Tagged(1, "a"),
    "tagged otherwise": Tagged(1, "b"),
    "tagged dict": Tagged({"a": 1}, "a"),
    "tagged ordered": Tagged(OrderedDict(a=1), "a"),
    "nested": {"a": {"a": 1}, "b": ({"c": 2}, None)},
    "nested ordered": {"a": {"a": 1}, "b": (OrderedDict(c=2), None)},
    "nested beside ordered": {"a": OrderedDict(a=1), "b": ({"c": 2}, None)},
    "nested subclass": {"a": {"a": 1}, "b": (MyDict(c=2), None)},
}


@pytest.mark.parametrize("expected", TREES)
@pytest.mark.parametrize("by_name", [False, True])
def test_leaves_are_taken_of_trees_of_the_same_structure_alone(expected, by_name):
    def call(tree):
        return ((0,), {"x": tree}) if by_name else ((0, [tree]), {"y": 3})

    _, structure = flatten_tangents(call(TREES[expected]))
    take = taking(structure)
    for name, tree in TREES.items():
        leaves, found = flatten_tangents(call(tree))
        taken = take(*call(tree))
        if taken is not None and not all(isinstance(x, int | MyDict) for x in taken):
            taken = None  # a tree in the place of a leaf, which calls look at
        assert (taken and [*taken]) == (leaves if found == structure else None), name


def test_a_class_that_takes_no_numbers_apart_is_flattened():
    class Strict:
        def __init__(self, x):
            assert not isinstance(x, int)

    optree.register_pytree_node(
        Strict, lambda x: ((2.0,), None), lambda _, c: Strict(*c), namespace="irax.arrays"
    )
    leaves, structure = flatten_tangents(((Strict(2.0),), {}))
    assert taking(structure)((Strict(1.0),), {}) == leaves
    assert taking(structure)((2.0,), {}) is None


def test_numbers_and_weakly_typed_arrays_share_a_trace():
    traced = []
    f = irax.jit(lambda x, n: (traced.append("once"), x, n)[1:])
    assert f(*f(1.5, 2)) == (1.5, 2)
    assert traced == ["once"]


def test_static_parameters_are_as_given_where_both_kinds_are():
    def f(a, *args, **kwargs):
        return a

    def wrapped(a, b):  # its second argument is another one of f
        return a, b

    jitted = irax.jit(functools.wraps(wrapped)(f), static_argnums=(), static_argnames=["b"])
    with pytest.raises(TypeError, match="expected an array or a number"):
        jitted(1.0, "traced", b="static")


def test_programs_that_were_not_called_for_longest_make_room(monkeypatch):
    monkeypatch.setattr(programs, "MOST", 3)
    monkeypatch.setattr(programs, "RECENT", 1)
    traced = []

    @irax.jit
    def f(x):
        traced.append(x.shape[0])
        return x + 1

    for n in (1, 2, 3, 1, 4, 1, 2):
        assert f(np.zeros(n, np.float32)).shape == (n,)
    assert traced == [1, 2, 3, 4, 2]


def test_another_number_between_two_lines_of_a_call():
    """As of a thread that takes its turn there, or of a signal's handler."""
    f = irax.jit(lambda x: x + 1)
    number, before = 1.5, sys.gettrace()

    def called(when):
        lines = 0

        def trace(frame, event, argument):
            nonlocal lines
            if frame.f_code.co_filename != bound_call.__file__:
                return None
            lines += event == "line"
            if event == "line" and lines == when:
                assert f(9.5) == 10.5
            return trace

        sys.settrace(trace)
        try:
            return f(number)
        finally:
            sys.settrace(before)

    for when in range(40):
        assert f(number) == f(number) == 2.5
        assert called(when) == 2.5
