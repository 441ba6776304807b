"""Reverse mode of loops that read and write arrays row by row at their count, and of what is the
same in all steps: right derivatives, and no array copied or kept for each step.
"""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

RANDOM = np.random.default_rng(0)
X = jnp.asarray(RANDOM.normal(size=(5, 3)).astype(np.float32))
W = jnp.asarray(RANDOM.normal(size=(3, 3)).astype(np.float32))


def reads_and_writes(x, w):
    return lax.fori_loop(0, 5, lambda i, y: y.at[i].set(jnp.sin(x[i]) @ w), jnp.zeros((5, 3)))


def updates_backwards(x, w):
    return lax.fori_loop(
        0, 5, lambda i, y: y.at[4 - i].add(jnp.sin(x[4 - i]) @ w * y[4 - i]), x * 2
    )


def neighbours(x, w):
    def step(i, y):
        return y.at[i].set(jnp.sin(x[i] * x[i - 1] + x[i + 1]) @ w)

    return lax.fori_loop(1, 4, step, x * 3)


def depends_on_the_row_before(x, w):
    return lax.fori_loop(1, 5, lambda i, y: y.at[i].set(jnp.sin(y[i - 1]) @ w), x * 3)


def both_directions(x, w):
    def step(i, state):
        y, z = state
        return y.at[i].set(x[i] @ w), z.at[4 - i].set(x[4 - i] * y[i])

    return lax.fori_loop(0, 5, step, (jnp.zeros_like(x), x))


def counts_in_a_scan(x, w):
    def step(carry, row):
        i, c = carry
        return (i + 1, jnp.tanh(c @ jnp.sin(w) + row * x[i])), c * x[i]

    return lax.scan(step, (0, jnp.ones(3)), x, reverse=True)[1]


def read_where_no_row_is(x, w):
    # The slice begins at 2 at most, and twos are beyond the counts' range.
    def step(i, c):
        part = lax.dynamic_slice(x, (2 * i, 0), (3, 3))
        return c + part[0] * w[0] + lax.dynamic_index_in_dim(x, 7 + i, keepdims=False)

    return lax.fori_loop(0, 4, step, jnp.zeros(3))


def whole_array_too(x, w):
    return lax.fori_loop(0, 5, lambda i, c: jnp.tanh(c @ w + x[i] * x.sum()), jnp.ones(3))


def in_a_branch(x, w):
    def step(i, c):
        return lax.cond(c[0] > 0, lambda: c @ w + x[i], lambda: c - x[i])

    return lax.fori_loop(0, 5, step, jnp.ones(3))


LOOPS = {f.__name__: f for f in (
    reads_and_writes, updates_backwards, neighbours, depends_on_the_row_before, both_directions,
    counts_in_a_scan, read_where_no_row_is, whole_array_too, in_a_branch,
)}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", LOOPS.values(), ids=LOOPS)
def test_derivatives(f):
    check_grads(f, (X, W), order=2)
    lanes = irax.vmap(irax.jacrev(f), (0, None))(jnp.stack([X, 2 * X]), W)
    each = [irax.jacfwd(f)(x, W) for x in (X, 2 * X)]
    irax.tree_util.tree_map(
        lambda found, *expected: np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5),
        lanes,
        *each,
    )


@pytest.mark.slow
@pytest.mark.parametrize("f", [reads_and_writes, neighbours], ids=lambda f: f.__name__)
def test_on_iree(f):
    loss = lambda x, w: jnp.sum(f(x, w) ** 2)
    found = irax.jit(irax.grad(loss, (0, 1)))(X, W)
    expected = irax.grad(loss, (0, 1))(X, W)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


PLACES = {
    "i": lambda i, n: i,
    "i + 1": lambda i, n: i + 1,
    "n - i": lambda i, n: n - i,
    "n - 1 - i": lambda i, n: n - 1 - i,
    "2 * i": lambda i, n: 2 * i,
    "i % 3": lambda i, n: i % 3,
    "-1 - i": lambda i, n: -1 - i,
    "min(i, 2)": lambda i, n: jnp.minimum(i, 2),
    "two": lambda i, n: 2,
}
places = st.sampled_from(sorted(PLACES))


@settings(max_examples=25)
@given(
    st.lists(places, min_size=1, max_size=3), places, st.sampled_from(["set", "add", "scale"]),
    st.integers(0, 2), st.integers(1, 7), st.booleans(), st.booleans(),
)  # fmt: skip
@pytest.mark.slow
def test_any_places(reads, write, how, start, end, reads_own_rows, scans):
    """Reverse mode, which goes by rows, against forward mode, which does not."""

    def f(x, y):
        def step(i, y):
            row = sum(jnp.sin(x[PLACES[place](i, 6)]) * k for k, place in enumerate(reads, 1))
            at = PLACES[write](i, 6)
            row = row * y[at] if reads_own_rows else row
            if how == "set":
                return y.at[at].set(row)
            return y.at[at].add(row) if how == "add" else y.at[at].multiply(row)

        if not scans:
            return lax.fori_loop(start, end, step, y)

        def row_by_row(carry, row):
            i, y = carry
            return (i + 1, step(i, y) * (1 + 0.1 * row[0])), y[i % 3]

        return lax.scan(row_by_row, (start, y), x[: end - start if end > start else 0])[0][1]

    found, expected = irax.jacrev(f, (0, 1))(X6, X6 + 1), irax.jacfwd(f, (0, 1))(X6, X6 + 1)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


X6 = jnp.asarray(RANDOM.normal(size=(6, 2)).astype(np.float32))


def reverse_text(f, *args):
    """The functions of reverse mode, but for those that scans are made of for other tools."""
    loss = lambda *args: jnp.sum(f(*args) ** 2)
    ir = irax.make_ir(irax.grad(loss, tuple(range(len(args)))))(*args)
    text = str(ir.run("symbol-dce"))
    functions = re.split(r"(?m)^  (?=func\.func)", text)
    return "\n".join(t for t in functions if not re.match(r".*\.(times|back)_\d+\(", t))


def test_no_array_is_copied_for_each_step():
    x = jnp.ones((50, 3))

    def f(x, w):
        step = lambda i, y: y.at[i].set(jnp.sin(x[i]) @ w)
        return lax.fori_loop(0, 50, step, jnp.zeros((50, 3)))

    text = reverse_text(f, x, W)
    assert "irax.scan" in text
    assert "dynamic_" not in text


def test_what_all_steps_share_is_kept_once():
    w = jnp.ones((7, 7))

    def f(w, x):
        return lax.scan(lambda c, row: (jnp.tanh(w) @ c + row, None), jnp.ones(7), x)[0]

    text = reverse_text(f, w, jnp.ones((9, 7)))
    assert "9x7xf32" in text  # what is carried is kept
    assert "9x7x7xf32" not in text
    check_grads(f, (0.1 * w, jnp.ones((4, 7))), order=2)


FOREIGN = """
func.func public @main(%w: tensor<4x4xf32>, %xs: tensor<6x4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %ys = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<6xf32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %0:5 = stablehlo.while(%x = %xs, %v = %w, %i = %start, %c = %c0, %y = %ys)
      : tensor<6x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<4xf32>, tensor<6xf32>
  cond {
    %n = stablehlo.constant dense<6> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    PLACE
    %2 = func.call @row(%x, %p) : (tensor<6x4xf32>, tensor<i32>) -> tensor<4xf32>
    %3:2 = func.call @step(%v, %c, %2)
        : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
    %4 = func.call @put(%y, %3#1, %p) : (tensor<6xf32>, tensor<f32>, tensor<i32>) -> tensor<6xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %x, %v, %5, %3#0, %4
        : tensor<6x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<4xf32>, tensor<6xf32>
  }
  %6 = stablehlo.reduce(%0#3 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %7 = stablehlo.multiply %0#4, %0#4 : tensor<6xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  %9 = stablehlo.add %6, %8 : tensor<f32>
  return %9 : tensor<f32>
}
func.func private @row(%x: tensor<6x4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %i, %c, sizes = [1, 4]
      : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @step(%w: tensor<4x4xf32>, %c: tensor<4xf32>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %w, %c, contracting_dims = [1] x [0]
      : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  %2 = stablehlo.tanh %1 : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %2, %3 : tensor<4xf32>, tensor<f32>
}
func.func private @put(%y: tensor<6xf32>, %r: tensor<f32>, %i: tensor<i32>) -> tensor<6xf32> {
  %0 = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.dynamic_update_slice %y, %0, %i
      : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}"""

FORWARDS = "%z = stablehlo.constant dense<0> : tensor<i32> %p = stablehlo.add %i, %z : tensor<i32>"
BACKWARDS = (
    "%l = stablehlo.constant dense<5> : tensor<i32> %p = stablehlo.subtract %l, %i : tensor<i32>"
)


@pytest.mark.slow
@pytest.mark.parametrize("place", [FORWARDS, BACKWARDS], ids=["forwards", "backwards"])
def test_a_loop_of_another_framework_is_a_scan(place):
    main = irax.ir.load(FOREIGN.replace("PLACE", place))
    w = jnp.asarray(0.3 * RANDOM.normal(size=(4, 4)).astype(np.float32))
    xs = jnp.asarray(RANDOM.normal(size=(6, 4)).astype(np.float32))

    def same(w, xs):
        def step(c, x):
            c = jnp.tanh(w @ c + x)
            return c, c.sum()

        c, ys = lax.scan(step, jnp.zeros(4), xs, reverse=place == BACKWARDS)
        return c.sum() + (ys**2).sum()

    for f in (main, irax.jit(main)):
        for found, expected in zip(
            irax.grad(f, (0, 1))(w, xs), irax.grad(same, (0, 1))(w, xs), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    check_grads(main, (w, xs), order=2)
    assert "dynamic_" not in reverse_text(main, w, xs)
