"""Mutable arrays, compared with what Python does to NumPy's."""

import gc
import weakref

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

F32 = np.float32


@pytest.fixture
def ref() -> irax.Ref:
    return irax.new_ref(jnp.arange(3, dtype=F32))


def test_reading_and_writing(ref: irax.Ref):
    x = np.arange(3, dtype=F32)
    ref[1:] = jnp.array([5.0, 7.0])
    x[1:] = 5, 7
    ref[...] *= 2
    x *= 2
    ref.addupdate(1.0, 0)
    x[0] += 1
    assert irax.ref.swap(ref, 2, -1.0) == x[2]
    x[2] = -1
    irax.ref.set(ref, None, irax.ref.get(ref) + 1)
    irax.ref.addupdate(ref, -1, 3)
    x += 1
    x[-1] += 3
    np.testing.assert_array_equal(irax.freeze(ref), x)
    assert (ref.shape, ref.dtype, ref.ndim, ref.size, len(ref)) == ((3,), F32, 1, 3, 3)
    assert ref.sharding == ref[...].sharding
    assert ref.unsafe_buffer_pointer() == ref[...].unsafe_buffer_pointer()
    assert (repr(ref), repr(ref.aval)) == ("Ref" + repr(ref[...])[5:], "Ref{float32[3]}")
    irax.free_ref(ref)
    assert irax.empty_ref(irax.ShapeDtypeStruct((2, 3), "int32")).aval.inner_aval.shape == (2, 3)
    strong = irax.new_ref(1.0)
    strong[...] = F32(2)
    assert not strong[...].weak_type


def turns(ref, x):
    """Writes in all kinds of control flow, to a Ref that is NumPy's array in the test."""
    other = irax.new_ref(jnp.zeros(3))

    def step(c, row):
        other[row] = ref[row] * c
        lax.cond(c > 4, lambda: ref.addupdate(10.0, row), lambda: None)
        lax.switch(row, [lambda: None, lambda: ref.addupdate(c, 0)])
        return c + 1, ref[0]

    last, seen = lax.scan(step, x, jnp.arange(3))
    lax.fori_loop(0, 2, lambda i, _: ref.addupdate(1.0, i), None)
    lax.while_loop(lambda n: ref[1] < 30, lambda n: [ref.addupdate(5.0, 1), n + 1][1], 0)
    return last, seen, other[...]


def expected(ref, x):
    other, seen = np.zeros(3), []
    for row in range(3):
        other[row] = ref[row] * x
        ref[row] += 10 * (x > 4)
        ref[0] += x if row else 0
        x += 1
        seen.append(ref[0])
    ref[:2] += 1
    while ref[1] < 30:
        ref[1] += 5
    return x, np.array(seen), other


@pytest.mark.parametrize("jitted", [False, True])
def test_control_flow(ref: irax.Ref, jitted: bool):
    x = np.arange(3, dtype=F32)
    function = irax.jit(turns) if jitted else turns
    for start in (3.0, 4.0) if jitted else (3.0,):  # the second call is compiled already
        found, wanted = function(ref, start), expected(x, start)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b)
        np.testing.assert_allclose(ref[...], x)


def test_jitted_functions_write_to_refs_from_outside(ref: irax.Ref):
    traces = []

    @irax.jit
    def inner(x):
        traces.append(x)
        ref[0] += x

    @irax.jit
    def outer(mine, x):
        inner(x)
        inner(2 * x)
        mine[1] = ref[0]
        return {"total": mine[...].sum()}

    mine = irax.new_ref(jnp.zeros(2))
    assert outer(mine, 1.0)["total"] == 3
    assert outer(mine, 1.0)["total"] == 6
    inner(1.0)
    assert ref[...].tolist() == [7, 1, 2]
    count = len(traces)
    inner(1.0)
    outer(mine, 2.0)
    assert len(traces) == count
    assert (ref[0], mine[1]) == (14, 14)
    with irax.disable_jit():
        inner(1.0)
    assert ref[0] == 15


def test_a_known_branch_writes_once(ref: irax.Ref):
    lax.cond(True, lambda: ref.addupdate(1.0), lambda: ref.addupdate(3.0))
    assert ref[...].tolist() == [1, 2, 3]
    lax.switch(1, [lambda: ref.addupdate(1.0, 2), lambda: ref.addupdate(3.0, 1)])
    assert ref[...].tolist() == [1, 5, 3]


@pytest.mark.parametrize("jitted", [False, True])
def test_views_and_rows(jitted: bool):
    def write(row, value):
        row[0] += value
        return row[1]

    def step(total, row):
        ref, x = row
        ref[1] = total * x
        return total + ref[0], ref.at[1:][...]

    def f(flag, table):
        top, corner = table.at[0], table.at[0].at[1:]
        assert (top.shape, corner.shape, corner.dtype) == ((3,), (2,), np.float32)
        seen = lax.cond(flag, write, lambda row, _: row[2], top, 10.0)
        seen += lax.switch(flag.astype(int), [lambda row: 0.0, lambda row: write(row, 5.0)], corner)
        total, ys = lax.scan(step, 0.0, (table, jnp.float32([1, 2])), reverse=True)
        irax.jit(lambda row: write(row, 100.0))(table.at[1])
        irax.vmap(lambda row: row.addupdate(1.0, 2))(table.at[:1])
        return seen, total, ys

    table = irax.new_ref(jnp.arange(6.0).reshape(2, 3))
    seen, total, ys = (irax.jit(f) if jitted else f)(jnp.bool_(True), table)
    assert (seen, total) == (1 + 2, 13)
    assert table[...].tolist() == [[10, 3, 3], [103, 0, 5]]
    assert ys.tolist() == [[3, 2], [0, 5]]
    for run in (
        lambda: lax.scan(lambda c, row: (c, row[0]), None, (table, table)),
        lambda: lax.scan(lambda c, row: (c, row), None, table),
        lambda: lax.cond(True, lambda a, b: 0, lambda a, b: 0, table.at[0], table.at[1]),
        lambda: lax.switch(0, [lambda a: a], table),
        lambda: lax.scan(lambda c, row: (c, None), None, irax.new_ref(1.0)),
    ):
        with pytest.raises(ValueError, match="Ref"):
            (irax.jit(run) if jitted else run)()


def test_lanes_write_to_arguments(ref: irax.Ref):
    def f(mine, shared, x):
        mine[0] += x * shared[1]
        return mine[...].sum()

    rows = irax.new_ref(jnp.ones((2, 3)))
    found = irax.vmap(f, in_axes=(1, None, 0))(rows, ref, jnp.arange(3.0))
    assert found.tolist() == [2, 3, 4]
    assert rows[...].tolist() == [[1, 2, 3], [1, 1, 1]]

    def own(x):
        made = irax.new_ref(x)
        lax.fori_loop(0, 3, lambda i, _: made.addupdate(made[...]), None)
        return made[...]

    assert irax.vmap(own)(jnp.arange(3.0)).tolist() == [0, 8, 16]
    with pytest.raises(ValueError, match=r"was written to in what vmap traces, at .* make it an"):
        irax.vmap(lambda x: ref.addupdate(x, 0))(jnp.ones(3))


def test_derivatives(ref: irax.Ref):
    def f(x, mine):
        made = irax.new_ref(x)
        lax.fori_loop(0, 3, lambda i, _: made.addupdate(made[...] * x), None)  # x (1 + x)^3
        mine[0] = made[...]
        ref[1] += 1
        return made[...]

    mine = irax.new_ref(jnp.zeros(1))
    value, grad = irax.value_and_grad(f)(2.0, mine)
    assert (value, grad, mine[0], ref[1]) == (54, 27 + 54, 54, 2)
    assert irax.jit(irax.grad(f))(1.0, mine) == 8 + 12
    assert (mine[0], ref[1]) == (8, 3)
    (_, aux), _ = irax.value_and_grad(lambda x: (f(x, mine), x + 1), has_aux=True)(1.0)
    assert aux == 2
    np.testing.assert_allclose(irax.jvp(lambda x: own_square(x), (3.0,), (1.0,))[1], 6)
    with pytest.raises(TypeError, match="to differentiate with respect to is a Ref"):
        irax.grad(lambda mine: mine[0])(mine)


def test_functions_that_are_differentiated_run_once(ref: irax.Ref):
    calls = []

    def f(x):
        calls.append(x)
        ref[0] = 2 * x
        return x * lax.scan(lambda c, _: (c + ref[0], None), x, None, length=3)[0]  # x (x + 6x)

    assert irax.grad(f)(3.0) == 7 * 2 * 3
    assert (len(calls), ref[0]) == (1, 6)
    assert irax.grad(irax.grad(f))(1.0) == 14
    assert ref[0] == 2
    y, pullback = irax.vjp(f, 2.0)
    assert (y, pullback(1.0), ref[0]) == (28, (28,), 4)
    assert len(calls) == 3


def own_square(x):
    made = irax.new_ref(x)
    made[...] *= x
    return made[...]


def test_bad_uses(ref: irax.Ref):
    with pytest.raises(TypeError, match=r"new_ref: init_val: expected an array"):
        irax.new_ref([1.0])
    with pytest.raises(ValueError, match=r"shape \(2,\) for elements of shape \(\) of Ref{float32"):
        ref[0] = jnp.ones(2)
    for value in (1j, jnp.int32(3)):
        with pytest.raises(ValueError, match=r"for Ref{float32\[3\]}; expected float32"):
            ref[0] = value
    with pytest.raises(ValueError, match="only one reference to a mutable array"):
        irax.jit(lambda a, b: a[...])(ref, ref)
    with pytest.raises(ValueError, match=r"lambda: result is a mutable array, Ref{float32"):
        irax.jit(lambda a: a)(ref)
    with pytest.raises(ValueError, match="was both closed over and passed as an argument"):
        irax.jit(lambda a: a[...] + ref[...])(ref)
    with pytest.raises(ValueError, match=r"lambda: result\['a'\] is a mutable array"):
        irax.jit(lambda: {"a": ref})()
    with pytest.raises(ValueError, match=r"result\[0\] is a mutable array"):
        lax.scan(lambda c, x: (irax.new_ref(c), x), 0, jnp.arange(3))
    with pytest.raises(ValueError, match="result is a mutable array"):
        lax.cond(ref[0] > 0, lambda: irax.new_ref(1.0), lambda: irax.new_ref(2.0))
    with pytest.raises(ValueError, match=r"lambda writes to a Ref; expected it only reads"):
        lax.while_loop(lambda c: [ref.addupdate(1.0), c < 3][1], lambda c: c + 1, 0)
    with pytest.raises(TypeError, match=r"expected a Ref, which irax.new_ref makes"):
        irax.freeze(jnp.ones(2))  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        jnp.sin(ref)  # pyright: ignore[reportArgumentType]
    assert ref[...].tolist() == [0, 1, 2]


def test_types(ref: irax.Ref):
    assert irax.typeof(ref) == irax.ref.AbstractRef(irax.typeof(ref[...]).update(sharding=None))


def test_nothing_keeps_refs_alive():
    # While there are Refs, functions are traced once more, which other tests would count.
    def run() -> weakref.ref:
        made = irax.new_ref(jnp.zeros(2))
        function = irax.jit(lambda x: made.addupdate(x))
        function(1.0)
        assert made[0] == 1
        return weakref.ref(made)

    found = run()
    gc.collect()
    assert found() is None


# ---- pullbacks -----------------------------------------------------------------------------------


def test_pullback_of_a_ref():
    x, total = irax.new_ref(2.0), irax.new_ref(100.0)

    def f(x: irax.Ref) -> irax.Array:
        x[...] = jnp.sin(x[...])
        return x[...] ** 2

    y, pullback = irax.vjp(f, x)
    np.testing.assert_allclose(y, np.sin(2.0) ** 2, rtol=1e-6)
    np.testing.assert_allclose(x[...], np.sin(2.0), rtol=1e-6)
    assert pullback.with_refs(total)(1.0) == (irax.ad.GradRef(),)
    np.testing.assert_allclose(total[...], np.cos(2.0) * (100 + 2 * np.sin(2.0)), rtol=1e-5)
    with pytest.raises(ValueError, match=r"must be accumulated into a Ref: .*with_refs"):
        pullback(1.0)


def test_forms_of_cotangents():
    total = irax.new_ref(jnp.ones((2, 3)))
    w, x = jnp.ones((2, 3)), jnp.arange(3.0)
    _, pullback = irax.vjp(lambda w, x: w @ x, w, x)
    forms = pullback.with_refs(total, irax.ad.GradValue())
    placeholder, by_x = irax.jit(lambda: forms(jnp.ones(2)))()
    assert placeholder == irax.ad.GradRef()
    np.testing.assert_array_equal(by_x, [2, 2, 2])
    np.testing.assert_array_equal(total[...], 1 + np.tile(np.arange(3.0), (2, 1)))
    by_w, none = pullback.with_refs(irax.ad.GradValue(), irax.ad.DontWant())(jnp.ones(2))
    assert none == irax.ad.DidntWant()
    np.testing.assert_array_equal(by_w, np.tile(np.arange(3.0), (2, 1)))
    with pytest.raises(ValueError, match="as many forms as arguments, 2, got 1"):
        pullback.with_refs(total)
    for wrong in (jnp.zeros(3), jnp.zeros(2, jnp.int32)):
        with pytest.raises(ValueError, match=r"the Ref of an argument of type float32\[2,3\]"):
            pullback.with_refs(irax.new_ref(wrong), irax.ad.DontWant())
    with pytest.raises(ValueError, match=r"expected a Ref, .* got 1"):
        pullback.with_refs(1, 2)


def test_gradients_accumulate_in_a_scan():
    def loss(w: irax.Array, x: irax.Array) -> irax.Array:
        return jnp.mean(jnp.tanh(x @ w))

    def accumulated(w: irax.Array, xs: irax.Array) -> irax.Array:
        total = irax.new_ref(jnp.zeros_like(w))

        def step(carry: None, x: irax.Array) -> tuple[None, irax.Array]:
            value, pullback = irax.vjp(lambda w: loss(w, x), w)
            pullback.with_refs(total)(jnp.ones_like(value))
            return None, value

        lax.scan(step, None, xs)
        return irax.freeze(total)

    w, xs = jnp.full((2, 2), 0.3), jnp.arange(12.0).reshape(3, 2, 2) / 10
    expected = irax.grad(lambda w: sum(loss(w, x) for x in xs))(w)
    np.testing.assert_allclose(accumulated(w, xs), expected, rtol=1e-6)
    np.testing.assert_allclose(irax.jit(accumulated)(w, xs), expected, rtol=1e-6)


def test_what_a_pullback_keeps_of_arguments():
    a, b = jnp.arange(6.0).reshape(2, 3), jnp.ones((3, 2))
    _, pullback = irax.vjp(jnp.matmul, a, b)
    assert pullback.opaque_residuals == []
    np.testing.assert_array_equal(pullback.args_res[0], a)
    pullback.args_res[1] = 2 * b
    np.testing.assert_array_equal(pullback(jnp.ones((2, 2)))[0], np.full((2, 3), 4))
    pullback.args_res[1] = a
    with pytest.raises(
        ValueError, match=r"args_res has type float32\[2,3\]; expected float32\[3,2\]"
    ):
        pullback(jnp.ones((2, 2)))
    given = {"x": 2.0, "y": 3.0}
    _, pullback = irax.vjp(lambda p, q: (p["x"] * q + jnp.sin(p["y"]), q), given, jnp.float32(4.0))
    assert (
        str(pullback.args_res)
        == "[(Array(2., dtype=float32), NotNeeded()), Array(4., dtype=float32)]"
    )
    assert len(pullback.opaque_residuals) == 1
    _, again = irax.jit(lambda a: irax.vjp(jnp.sin, a))(1.0)
    np.testing.assert_allclose(again(1.0), np.cos(1), rtol=1e-6)


def test_loops_outside_of_traces_are_traced_once_while_refs_exist():
    kept = irax.new_ref(jnp.zeros(2))
    traced = []

    def step(total, x):
        traced.append(x)
        return total + x, total

    assert irax.lax.scan(step, 0.0, jnp.arange(4.0))[0] == 6.0
    assert len(traced) == 1
    assert irax.lax.fori_loop(0, 3, lambda i, c: step(c, i)[0], 0) == 3
    assert len(traced) == 2

    def write(total, x):
        kept[0] = total
        return step(total, x)

    assert irax.lax.scan(write, 0.0, jnp.arange(4.0))[0] == 6.0
    np.testing.assert_array_equal(kept[...], [3.0, 0.0])


def test_programs_made_ahead_of_calls(ref: irax.Ref):
    outside = irax.new_ref(1.0)

    @irax.jit
    def f(x, y):
        x[...] += y
        outside[...] += x[1]
        return {"last": x[2]}

    for compiled in (f.lower(ref, 2.0).compile(), f.lower(irax.typeof(ref), 2.0).compile()):
        box = irax.new_ref(jnp.zeros(3))
        outside[...] = 10.0
        for n in (1, 2):
            assert compiled(box, 2.0)["last"] == 2 * n
        np.testing.assert_array_equal(box[...], [4, 4, 4])
        assert outside[...] == 16
    lowered = f.lower(ref, 2.0)
    assert lowered.in_avals == ((irax.typeof(ref), irax.typeof(2.0)), {})
    assert lowered.out_info == {"last": irax.ShapeDtypeStruct((), "float32")}
    assert len(lowered.compile().input_shardings[0]) == 2
    assert list(lowered.compile().output_shardings) == ["last"]
    with pytest.raises(TypeError, match=r"f: x is float32\[3\]; compiled for a Ref"):
        lowered.compile()(jnp.zeros(3), 2.0)
    with pytest.raises(TypeError, match=r"f: y is Ref{float32\[3\]}; compiled for an arr"):
        lowered.compile()(irax.new_ref(jnp.zeros(3)), ref)
    with pytest.raises(TypeError, match=r"f: x is float32\[4\]; compiled for float32\[3\]"):
        lowered.compile()(irax.new_ref(jnp.zeros(4)), 2.0)
