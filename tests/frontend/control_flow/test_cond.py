"""lax.cond and lax.switch: which function runs, what they may return, derivatives and lanes."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.core.tracing import Tracer
from irax.test_util import check_grads

X = jnp.array([0.5, -1.0, 2.0])


def text_of(f, *args):
    return str(irax.make_ir(f)(*args))


def test_only_one_function_runs_where_the_predicate_is_known():
    ran = []

    def branch(name, result):
        def run(x):
            if not isinstance(x, Tracer):
                ran.append(name)
            return result(x)

        return run

    yes, no = branch("yes", lambda x: x + 1), branch("no", lambda x: x - 1)
    assert float(lax.cond(True, yes, no, 3.0)) == 4
    assert float(lax.cond(jnp.array(0), yes, no, 3.0)) == 2
    assert float(lax.switch(7, [no, no, yes], 3.0)) == 4
    assert ran == ["yes", "no", "yes"]
    assert float(irax.grad(lambda x: lax.cond(x > 2, yes, no, x) ** 2)(3.0)) == 8
    assert isinstance(lax.cond(True, lambda x: x, lambda x: x, np.ones(2)), irax.Array)


def test_what_is_known_chooses_without_a_trace_in_the_module():
    text = text_of(lambda x: lax.cond(True, jnp.sin, jnp.cos, x), 1.0)
    assert "stablehlo.if" not in text
    assert "cosine" not in text


def test_a_result_is_weakly_typed_if_that_of_number_0_is():
    def strong():
        return jnp.float32(2)

    def types(number):
        return [
            lax.cond(number, lambda: 1.0, lambda: 2.0),
            lax.cond(number, strong, lambda: 1.0),
            lax.cond(number, lambda: 1.0, strong),
            lax.switch(number, [lambda: 1.0, strong]),
            lax.switch(number, [strong, lambda: 1.0]),
        ]

    for run in (types, irax.jit(types)):
        for number in (0, 1):
            assert [x.weak_type for x in run(number)] == [True, True, False, True, False]


def choice(x, y):
    return lax.cond(
        x > 0, lambda a, b: {"s": a * b, "n": 1}, lambda a, b: {"s": a - b, "n": 0}, x, y
    )


def test_a_traced_predicate_becomes_an_if():
    assert "stablehlo.if" in text_of(choice, 1.0, 2.0)
    jitted = irax.jit(choice)
    for x, expected in ((2.0, (6, 1)), (-2.0, (-5, 0))):
        out = jitted(x, 3.0)
        assert (float(out["s"]), int(out["n"])) == expected


def test_lanes_choose_for_themselves():
    y = jnp.array([3.0, 4.0, 5.0])
    out = irax.vmap(choice)(X, y)
    np.testing.assert_array_equal(out["n"], [1, 0, 1])
    np.testing.assert_allclose(out["s"], [1.5, -5, 10])
    shared = irax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), (None, 0))(jnp.array(True), X)
    np.testing.assert_allclose(shared, np.sin(X), rtol=1e-6)
    assert "stablehlo.if" in text_of(
        irax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), (None, 0)), True, X
    )


def test_gradients_are_those_of_the_function_chosen():
    def f(x):
        return lax.cond(x > 0, lambda x: jnp.log(x) * x, lambda x: x * 0 + 1, x)

    slopes = irax.vmap(irax.grad(f))(jnp.array([2.0, 0.5]))
    np.testing.assert_allclose(slopes, np.log([2, 0.5]) + 1, rtol=1e-6)
    # log(-1) is nan, but nothing of it is computed.
    assert float(irax.jit(irax.grad(f))(-1.0)) == 0


@pytest.mark.parametrize("flag", [True, False])
def test_derivatives_to_second_order(flag):
    def f(p, x, w):
        def inner(x):
            return jnp.sum(jnp.sin(x) * w), x[0]

        return lax.cond(p, inner, lambda x: (jnp.sum(x**3), w), x)

    jitted = irax.make_ir(f)  # the predicate is traced: a branch is chosen when it runs
    assert "stablehlo.if" in str(jitted(flag, X, 2.0))
    lanes = irax.vmap(lambda p, x, w: f(p, x, w), (0, None, None))
    flags = jnp.array([flag])
    check_grads(lambda x, w: lanes(flags, x, w), (X, 2.0), order=2)


def test_closures_of_both_branches_are_operands():
    def f(p, x, y):
        def inner(z):
            yes, no = (lambda: x * z), (lambda: jnp.sin(y) + z)
            return lax.cond(p > 0, yes, no)

        return jnp.sum(irax.vmap(irax.grad(inner))(X)) + lax.cond(p > 0, lambda: x, lambda: y)

    for p, expected in ((1.0, (4.0, 0.0)), (-1.0, (0.0, 1.0))):
        found = irax.vmap(irax.grad(f, (1, 2)), (0, None, None))(jnp.array([p]), 2.0, 3.0)
        np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6)


@pytest.mark.slow
def test_switch_clamps_its_index():
    def f(i, x):
        return lax.switch(i, [jnp.sin, lambda x: 2 * x, lambda x: -x], x)

    expected = [np.sin(3), np.sin(3), 6, -3, -3]
    places = range(-1, 4)
    np.testing.assert_allclose([float(f(i, 3.0)) for i in places], expected, rtol=1e-6)
    jitted = irax.jit(f)
    np.testing.assert_allclose([float(jitted(i, 3.0)) for i in places], expected, rtol=1e-6)
    np.testing.assert_allclose(irax.vmap(f, (0, None))(jnp.arange(-1, 4), 3.0), expected, rtol=1e-6)
    assert "stablehlo.case" in text_of(f, 1, 3.0)
    slopes = irax.vmap(irax.grad(f, 1), (0, None))(jnp.arange(3), 3.0)
    np.testing.assert_allclose(slopes, [np.cos(3), 2, -1], rtol=1e-6)
    for dtype in ("uint8", "int8", "uint32"):
        assert float(jitted(np.asarray(1, dtype), 3.0)) == 6
    assert float(lax.switch(5, [jnp.negative], 1.0)) == -1


@pytest.mark.parametrize(
    "branches, text",
    [
        (
            (lambda x: x, lambda x: 0),
            r"result +float32\[\] \(weak\) +int32\[\] \(weak\) +<- differ",
        ),
        (
            (lambda x: {"a": x, "b": 1}, lambda x: {"a": jnp.ones(2), "b": 1}),
            r"(?s)true_fun \(lambda\) +false_fun.*result\['a'\] +float32\[\] .*float32\[2\] +<- d",
        ),
        ((lambda x: (x, x), lambda x: x), r"(?s)test_cond.py:\d+.*same structure.*false_fun"),
    ],
)
def test_results_of_another_type_are_shown_side_by_side(branches, text):
    with pytest.raises(TypeError, match=text):
        irax.make_ir(lambda p, x: lax.cond(p, *branches, x))(True, 1.0)
    with pytest.raises(TypeError, match="differ"):
        irax.make_ir(lambda i, x: lax.switch(i, branches, x))(0, 1.0)
    for pred in (True, False):  # known or not, branches must agree
        with pytest.raises(TypeError, match=text):
            lax.cond(pred, *branches, 1.0)
        with pytest.raises(TypeError, match="differ"):
            irax.grad(lambda x, pred=pred: jnp.sum(lax.switch(int(pred), branches, x)))(1.0)


def test_weak_types_give_way():
    strong = irax.make_ir(lambda p, x: lax.cond(p, lambda: x, lambda: 1.0))(True, jnp.ones(()))
    assert "stablehlo.if" in str(strong)
    out = irax.vmap(lambda p: lax.cond(p, lambda: 1.0, lambda: jnp.ones(())))(jnp.ones(2) > 0)
    assert not out.weak_type


def test_each_function_with_an_operand_of_its_own():
    def choose(p):
        return lax.cond(p, 2.0, lambda x: x + 1, 3.0, lambda x: x * 5)

    assert [float(choose(p)) for p in (True, False)] == [3, 15]
    np.testing.assert_array_equal(irax.vmap(choose)(np.array([True, False])), [3, 15])


def test_operands_may_be_functions():
    scale = irax.tree_util.Partial(lambda a, x: a * x, 3.0)
    found = lax.cond(True, lambda x, f: f(x), lambda x, f: x, 2.0, scale)
    assert float(found) == 6


def test_errors():
    with pytest.raises(TypeError, match="complex"):
        lax.cond(1j, lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match="must be a scalar"):
        lax.cond(jnp.ones(2), jnp.sin, jnp.cos, 1.0)
    with pytest.raises(TypeError, match="must be a function"):
        lax.cond(True, 1.0, 2.0)
    with pytest.raises(TypeError, match="integer scalar, got float32"):
        lax.switch(1.0, [jnp.sin, jnp.cos], 1.0)
    with pytest.raises(TypeError, match="to be functions"):
        lax.switch(1, [jnp.sin, 2], 1.0)
    with pytest.raises(ValueError, match="at least one branch"):
        lax.switch(1, [], 1.0)
    with pytest.raises(TypeError, match=r"operands\[0\]\['a'\]: expected an array"):
        irax.make_ir(lambda p: lax.cond(p, lambda x: 1, lambda x: 2, {"a": "no"}))(True)


def test_branches_that_return_arrays_from_outside_of_a_loop():
    """IREE would free them in the first step."""

    def f(x, y):
        outside = jnp.exp(y)
        branches = (lambda p: p + outside, lambda p: outside)
        step = lambda i, p: jnp.sin(lax.cond(i > 2, *branches, p))
        return lax.fori_loop(0, 5, step, x)

    x, y = np.random.default_rng(0).uniform(size=(2, 1500, 1500)).astype(np.float32)
    expected = x
    for i in range(5):
        expected = np.sin(expected + np.exp(y) if i > 2 else np.exp(y))
    np.testing.assert_allclose(irax.jit(f)(x, y), expected, atol=1e-5)


def test_results_that_all_functions_pass_through_are_the_operands():
    shared = jnp.arange(20.0)

    def f(p, same, x):
        return lax.cond(
            p, lambda a, x: (a, x + 1, shared, x), lambda a, x: (a, x, shared, -x), same, x
        )

    lanes = irax.vmap(f, in_axes=(0, None, 0), out_axes=(None, 0, None, 0))
    same, x, kept, changed = lanes(jnp.array([True, False]), jnp.float32(3), jnp.array([1.0, 2.0]))
    assert (same, x.tolist(), changed.tolist()) == (3, [2, 2], [1, -2])
    np.testing.assert_array_equal(kept, shared)
    with pytest.raises(ValueError, match="out_axes: None was asked for a result"):
        irax.vmap(f, in_axes=(0, None, 0), out_axes=None)(jnp.array([True]), 1.0, jnp.ones(1))


def test_two_branches_return_what_is_behind_a_barrier():
    """IREE asks for the size of its memory in the first branch, and uses it in the second."""

    @irax.jit
    def f(x, p, q):
        kept = lax.optimization_barrier(x)
        one = lax.cond(p, lambda: jnp.sort(x), lambda: kept)
        return one, lax.cond(q, lambda: jnp.sort(x) + 1, lambda: kept)

    x = np.array([3, 1, 2], np.float32)
    one, other = f(x, True, False)
    np.testing.assert_array_equal(one, [1, 2, 3])
    np.testing.assert_array_equal(other, x)
    np.testing.assert_array_equal(f(x, False, True)[1], [2, 3, 4])


@pytest.mark.parametrize("p", [True, False])
def test_a_branch_returns_a_barrier_of_what_is_used_later(p: bool):
    @irax.jit
    def f(p, a, x):
        y = x @ x
        others = [lambda a, y: a, lambda a, y: lax.optimization_barrier(y)]
        return lax.cond(p, *others, a, y) + y, lax.switch(p * 2, [*others, others[1]], a, y) - y

    a, x = np.random.default_rng(0).integers(-3, 4, (2, 200, 200)).astype(np.float32)
    y = x @ x
    first, second = f(p, a, x)
    np.testing.assert_array_equal(first, (a if p else y) + y)
    np.testing.assert_array_equal(second, (y if p else a) - y)


def test_nested_branches_choose_constants():
    """IREE refused them, whichever of the branches returns the constant."""
    constant = np.array([2, 7], np.int32)
    returns = {
        "x": lambda x: x,
        "least": lambda x: jnp.minimum(x, 1),
        "constant": lambda _: constant,
    }
    names = [
        (("x", "x"), ("least", "least"), ("least", "constant")),
        (("x", "x"), ("constant", "constant"), ("constant", "least")),
        (("constant", "x"), ("least", "least"), ("x", "constant")),
    ]

    @irax.jit
    def f(x):
        branches = [
            [lambda x, pair=pair: tuple(returns[name](x) for name in pair) for pair in triple]
            for triple in names
        ]
        return [lax.switch(jnp.max(x), three, x) for three in branches]

    for x in ([0, -1], [1, 0], [2, 5]):
        values = {"x": np.array(x), "least": np.minimum(x, 1), "constant": constant}
        for triple, pair in zip(names, f(np.array(x, np.int32)), strict=True):
            for name, found in zip(triple[min(max(x), 2)], pair, strict=True):
                np.testing.assert_array_equal(found, values[name])
