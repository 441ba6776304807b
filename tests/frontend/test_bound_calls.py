"""Calls of a jitted function with the signature of the last call, which take a short way."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp


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


def test_results_of_committed_arrays_are_committed():
    f = irax.jit(lambda x: x + 1)
    there = irax.device_put(X, irax.devices()[0])
    assert [twice(f, x).committed for x in (X, there, X)] == [False, True, False]
