"""Python functions that programs call: pure_callback and io_callback."""

import functools
import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.experimental import io_callback
from irax_runtime.iree.cpu import cpu

SCALAR = irax.ShapeDtypeStruct((), "float32")
BOTH = pytest.mark.parametrize("jit", [lambda f: f, irax.jit], ids=["at once", "jit"])


def like(x):
    return irax.ShapeDtypeStruct(x.shape, x.dtype)


def np_sin(x):
    return np.sin(x)


def sine(x, **options):
    return irax.pure_callback(np_sin, like(x), x, **options)


# ---- values --------------------------------------------------------------------------------------


@BOTH
def test_pytrees_go_in_and_come_out(jit):
    def host(x, pair, *, scale):
        assert all(isinstance(leaf, irax.Array) for leaf in [x, *pair["two"], scale])
        return {"sum": x + pair["two"][0], "list": [np.asarray(pair["two"][1]) * 2, scale]}

    def f(x, y, z):
        result = {"sum": like(x), "list": [like(z), SCALAR]}
        return irax.pure_callback(host, result, x, {"two": (y, z)}, scale=0.5)

    found = jit(f)(np.float32([1, 2]), np.float32([3, 4]), np.int32([[5]]))
    assert set(found) == {"sum", "list"}
    np.testing.assert_array_equal(found["sum"], [4, 6])
    np.testing.assert_array_equal(found["list"][0], [[10]])
    assert found["list"][1] == 0.5
    assert isinstance(found["list"][1], irax.Array)


DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.float16, np.complex64, ml_dtypes.bfloat16]


def test_every_dtype_goes_through():
    arrays = [np.arange(6).reshape(2, 3).astype(d) for d in DTYPES]
    arrays += [np.zeros((0, 2), np.float32), np.float32(3)]
    seen = []

    def host(*given):
        seen.extend(given)
        return tuple(x[::-1] if x.ndim else x for x in map(np.asarray, given))

    results = tuple(irax.ShapeDtypeStruct(np.shape(x), x.dtype) for x in arrays)
    found = irax.jit(lambda *xs: irax.pure_callback(host, results, *xs))(*arrays)
    for x, given, y in zip(arrays, seen, found, strict=True):
        assert x.dtype == given.dtype == y.dtype
        np.testing.assert_array_equal(np.asarray(given), x)
        np.testing.assert_array_equal(np.asarray(y), x[::-1] if x.ndim else x)


def test_64_bits():
    with irax.enable_x64():
        found = irax.jit(lambda x: irax.pure_callback(np.cumsum, like(x), x))(jnp.arange(3.0))
    assert found.dtype == np.float64
    with pytest.raises(ValueError, match="float64 needs enable_x64"):
        irax.pure_callback(np.sin, np.zeros(3), jnp.zeros(3))


def test_what_numpy_makes_wider_is_made_narrow_again():
    result = irax.ShapeDtypeStruct((2,), "int32")
    found = irax.jit(lambda x: irax.pure_callback(lambda x: np.argsort(x), result, x))(
        np.float32([2, 1])
    )
    np.testing.assert_array_equal(found, [1, 0])


def test_a_named_tuple_does_for_a_tuple():
    a = np.float32([[2, 0], [0, 3]])
    result = (irax.ShapeDtypeStruct((2,), "float32"), like(a))
    values, vectors = irax.jit(lambda a: irax.pure_callback(np.linalg.eigh, result, a))(a)
    np.testing.assert_allclose(vectors @ jnp.diag(values) @ vectors.T, a, atol=1e-6)


@BOTH
def test_python_numbers_are_results_of_any_dtype_that_has_them(jit):
    kinds = ("float32", "bfloat16", "complex64", "int8")
    results = tuple(irax.ShapeDtypeStruct((), d) for d in kinds)
    found = jit(lambda: irax.pure_callback(lambda: (0.5, 1, 2.0, 3), results))()
    assert [complex(x) for x in found] == [0.5, 1, 2, 3]
    assert [x.dtype.name for x in found] == list(kinds)


def test_a_call_without_results_that_is_pure_may_go():
    calls = []
    irax.jit(lambda x: (irax.pure_callback(calls.append, None, x), x)[1])(1.0)
    irax.jit(lambda x: (sine(x), irax.pure_callback(calls.append, SCALAR, x), x)[2])(jnp.ones(2))
    assert len(calls) <= 1


def test_arrays_that_the_user_keeps_stay_what_they_are():
    kept = []

    def step(i, x):
        io_callback(kept.append, None, x)
        return x.at[0].add(1.0)

    irax.jit(lambda x: lax.fori_loop(0, 4, step, x))(jnp.zeros(2000))
    assert [float(x[0]) for x in kept] == [0, 1, 2, 3]
    with pytest.raises((TypeError, ValueError)):
        np.asarray(kept[0])[0] = 9


def test_a_callback_may_use_irax():
    def host(x):
        return irax.jit(lambda x: irax.pure_callback(np_sin, like(x), x) + 1)(x) * 2

    found = irax.jit(lambda x: irax.pure_callback(host, like(x), x))(jnp.float32([0.5]))
    np.testing.assert_allclose(found, 2 * (np.sin([0.5]) + 1), rtol=1e-6)


def test_a_callback_that_runs_while_a_function_is_traced_is_not_traced():
    def host(x):
        y = jnp.sin(x)  # an operation of irax's, which must not land in the trace
        assert isinstance(float(y), float)
        return y

    def f(x):
        y = irax.pure_callback(host, SCALAR, lax.stop_gradient(x))
        return x * 3 if y > 0 else x  # Python asks for the value while f is traced

    assert irax.grad(f)(1.0) == 3


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@BOTH
@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (
            np.ones(2, np.float32),
            ValueError,
            r"the result\['y'\] has shape \(2,\); expected \(3,\)",
        ),
        (np.ones(3, np.int32), TypeError, r"result\['y'\] has dtype int32; expected float32"),
        ("text", TypeError, r"result\['y'\]: expected an array or a number, got 'text'"),
        ((1, 2), TypeError, r"what it returned must have the structure of result_shape_dtypes"),
        (None, TypeError, "got None"),
        (1j, ValueError, r"shape \(\)"),
    ],
)
def test_results_that_are_not_what_was_promised(jit, returned, error, message):
    def liar(x):
        return {"y": returned}

    result = {"y": irax.ShapeDtypeStruct((3,), "float32")}
    f = jit(lambda x: irax.pure_callback(liar, result, x))
    for _ in range(2):
        with pytest.raises(error, match=message) as caught:
            f(1.0)
        assert "pure_callback of " in str(caught.value)
        assert "liar at " in str(caught.value)
        assert "test_callbacks.py:" in str(caught.value)


@BOTH
def test_results_may_be_arrays_of_another_library(jit):
    class Foreign:
        def __init__(self, elements):
            self.elements = elements

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.elements)

    def host(x):
        return {"y": [Foreign(np.asarray(x) + 1)]}

    f = jit(lambda x: irax.pure_callback(host, {"y": like(x)}, x))
    assert f(jnp.float32(1.0)) == {"y": 2}  # and lists do not count, as there is one array


class Odd(Exception):
    pass


@pytest.mark.sampled(4)
@BOTH
@pytest.mark.parametrize("error", [Odd("no such luck"), ValueError("not so"), KeyboardInterrupt()])
def test_an_exception_reaches_the_user_as_it_was(jit, error):
    luck = False

    def host(x):
        if luck:
            return x
        raise error

    def f(x):
        return lax.fori_loop(0, 3, lambda i, x: irax.pure_callback(host, like(x), x) + 1, x)

    f = jit(f)
    for _ in range(3):
        with pytest.raises(type(error)) as caught:
            f(jnp.ones(4))
        assert caught.value is error
        assert any(entry.name == "host" for entry in caught.traceback)
    luck = True  # and the program is as good as new
    np.testing.assert_array_equal(f(jnp.ones(4)), [4, 4, 4, 4])


def test_wrong_arguments():
    with pytest.raises(TypeError, match="expected a function, got 3"):
        irax.pure_callback(3, SCALAR)
    with pytest.raises(TypeError, match=r"result_shape_dtypes\[1\]: expected something with"):
        irax.pure_callback(np_sin, (SCALAR, 3), 1.0)
    with pytest.raises(TypeError, match=r"np_sin: argument \['a'\]: expected an array .* got 'x'"):
        irax.pure_callback(np_sin, SCALAR, a="x")
    with pytest.raises(ValueError, match=r"vmap_method must be None or one of .*, got 'all'"):
        irax.pure_callback(np_sin, SCALAR, 1.0, vmap_method="all")
    with pytest.raises(NotImplementedError, match="must be a SingleDeviceSharding or None"):
        irax.pure_callback(np_sin, SCALAR, 1.0, sharding="here")
    with pytest.raises(NotImplementedError, match="io_callback: sharding='here'"):
        io_callback(np_sin, SCALAR, 1.0, sharding="here")  # pyright: ignore[reportArgumentType]


def test_a_callback_of_one_device_gets_whole_arrays():
    """JAX 0.10.2 takes such shardings alone, and none in a shard_map."""
    mesh = irax.sharding.Mesh(np.array([cpu(0), cpu(1)], dtype=object), ("i",))
    x = irax.device_put(np.ones(4, np.float32), irax.NamedSharding(mesh, irax.P("i")))
    here, seen = irax.sharding.SingleDeviceSharding(cpu(0)), []

    def double(x):
        seen.append(x.shape)
        return 2 * x

    def f(x):
        return irax.pure_callback(double, irax.ShapeDtypeStruct(x.shape, x.dtype), x, sharding=here)

    np.testing.assert_array_equal(irax.jit(f)(x), [2, 2, 2, 2])
    assert set(seen) == {(4,)}
    with pytest.raises(NotImplementedError, match=r"inside of a shard_map.*expected None"):
        irax.shard_map(f, mesh=mesh, in_specs=irax.P("i"), out_specs=irax.P("i"))(x)


# ---- effects -------------------------------------------------------------------------------------


class Tape:
    """Writes down what it is called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, *xs):
        self.calls.append(tuple(np.asarray(x).tolist() for x in xs))

    def record(self, *xs, ordered=False):
        io_callback(self, None, *xs, ordered=ordered)


def calls_of(jit, f, *args):
    """The entries that f writes on a tape when it is called a second time."""
    tape = Tape()
    run = jit(functools.partial(f, tape))
    run(*args)
    tape.calls.clear()
    run(*args)
    return tape.calls


@BOTH
def test_effects_without_results_happen_in_order(jit):
    def f(tape, x):
        tape.record(x)
        y = jnp.sin(x) * 2
        tape.record(x)  # the same again
        tape.record(y)
        tape.record(7)
        return x

    assert calls_of(jit, f, 0.0) == [(0.0,), (0.0,), (0.0,), (7,)]


@BOTH
def test_a_counter_counts_each_call(jit):
    count = 0

    def tick():
        nonlocal count
        count += 1
        return np.int32(count)

    def f(x):
        result = irax.ShapeDtypeStruct((), "int32")
        a, b, _ = (io_callback(tick, result) for _ in range(3))
        return a, b

    f = jit(f)
    assert [int(x) for x in f(0.0)] == [1, 2]
    assert [int(x) for x in f(0.0)] == [4, 5]
    assert count == 6


@BOTH
@pytest.mark.parametrize("nothing", [None, (), {"a": []}])
def test_no_results_are_expected_as_any_empty_pytree(jit, nothing):
    seen = []
    f = jit(lambda x: (io_callback(seen.append, nothing, x), x))
    assert f(1.0)[0] == nothing
    assert seen == [1.0]


def loops(tape, x, n):
    """Loops and branches in each other, whose results nobody needs."""

    def step(carry):
        i, y = carry
        tape.record(i, 0)
        y = lax.cond(
            i % 2 == 0,
            lambda y: (tape.record(y, 1), y + 1)[1],
            lambda y: lax.fori_loop(0, 2, lambda j, y: (tape.record(j, 2), 2 * y)[1], y),
            y,
        )
        tape.record(y, 3)
        return i + 1, y

    def go_on(carry):
        tape.record(carry[0], 4)
        return carry[0] < n

    lax.while_loop(go_on, step, (0, x))
    lax.scan(lambda c, row: (c, tape.record(row, 5)), 0, jnp.arange(3))
    lax.switch(n, [lambda: tape.record(6), lambda: None])
    return x


def test_effects_in_loops_and_branches():
    found = calls_of(irax.jit, loops, 1.0, 2)
    expected = [(0, 4), (0, 0), (1.0, 1), (2.0, 3)]
    expected += [(1, 4), (1, 0), (0, 2), (1, 2), (8.0, 3), (2, 4)]
    expected += [(0, 5), (1, 5), (2, 5)]
    assert found == expected
    assert calls_of(lambda f: f, loops, 1.0, 2) == expected


def test_effects_survive_derivatives_and_happen_once():
    def f(tape, x):
        def step(carry, row):
            tape.record(lax.stop_gradient(carry))
            return carry * row, None

        unused = lax.cond(x > 100, lambda: x, lambda: (tape.record(9), x)[1])
        del unused
        inner = irax.jit(lambda y: tape.record(y))
        inner(lax.stop_gradient(x))
        return lax.scan(step, x, jnp.float32([2, 3]))[0]

    expected = [(9,), (1.0,), (1.0,), (2.0,)]
    for jit in (lambda f: f, irax.jit):
        assert calls_of(lambda f, jit=jit: jit(irax.grad(f)), f, 1.0) == expected
        assert calls_of(lambda f, jit=jit: jit(irax.value_and_grad(f)), f, 1.0) == expected
    assert irax.grad(functools.partial(f, Tape()))(1.0) == 6


def test_what_a_checkpoint_does_again_has_no_effect_again():
    count = 0

    def tick():
        nonlocal count
        count += 1
        return np.float32(count)

    def f(x):
        return jnp.sin(x * io_callback(tick, SCALAR))

    for n, jit in enumerate([lambda f: f, irax.jit], 1):
        found = jit(irax.grad(irax.checkpoint(f)))(0.5)
        assert count == n
        np.testing.assert_allclose(found, n * np.cos(0.5 * n), rtol=1e-5)


def test_a_loop_of_no_steps_calls_nothing():
    tape = Tape()
    for jit in (lambda f: f, irax.jit):
        ys = jit(lambda x: lax.scan(lambda c, r: (c, (tape.record(r), r)[1]), x, x[:0])[1])(
            jnp.ones(3)
        )
        assert ys.shape == (0,)
    assert tape.calls == []


def test_nothing_runs_while_a_function_is_traced():
    tape = Tape()
    irax.make_ir(lambda x: tape.record(x))(1.0)
    irax.eval_shape(lambda x: tape.record(x), 1.0)
    with pytest.raises(irax.errors.ConcretizationTypeError):
        irax.jit(lambda x: x if io_callback(lambda: 1.0, SCALAR) > 0 else -x)(1.0)
    assert tape.calls == []


def test_disable_jit():
    tape = Tape()
    with irax.disable_jit():
        irax.jit(lambda x: tape.record(x))(1.0)
    assert tape.calls == [(1.0,)]


# ---- derivatives ---------------------------------------------------------------------------------


def test_a_derivative_needs_a_rule():
    for jit in (lambda f: f, irax.jit):
        with pytest.raises(ValueError, match=r"np_sin\S* has no derivative.*irax\.custom_jvp"):
            irax.grad(jit(lambda x: sine(x)))(jnp.float32(1))
        with pytest.raises(ValueError, match=r"io_callback of .* has no derivative"):
            irax.jvp(jit(lambda x: io_callback(np_sin, like(x), x)), (1.0,), (1.0,))


def test_with_a_rule_it_has_one():
    @irax.custom_jvp
    def f(x):
        return sine(x, vmap_method="broadcast_all")

    @f.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        return f(x), irax.pure_callback(np.cos, like(x), x, vmap_method="broadcast_all") * dx

    x = jnp.float32([0.1, 0.7, 2])
    for g in (irax.vmap(irax.grad(f)), irax.jit(irax.vmap(irax.grad(f)))):
        np.testing.assert_allclose(g(x), np.cos(x), rtol=1e-6)


def test_integers_have_no_derivative_to_know():
    order = irax.ShapeDtypeStruct((3,), "int32")

    def f(x):
        return (x[irax.pure_callback(np.argsort, order, x)] * jnp.arange(3.0)).sum()

    x = np.float32([3, 1, 2])
    np.testing.assert_array_equal(irax.jit(irax.grad(f))(x), [2, 0, 1])


# ---- vmap ----------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@BOTH
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("sequential", [((2,), ())] * 3),
        ("sequential_unrolled", [((2,), ())] * 3),
        ("expand_dims", [((3, 2), (1,))]),
        ("broadcast_all", [((3, 2), (3,))]),
        ("legacy_vectorized", [((3, 2), ())]),
    ],
)
def test_vmap_methods(jit, method, expected):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.float32(10)
    shapes = []

    def host(x, y):
        shapes.append((x.shape, y.shape))
        x, y = np.asarray(x), np.asarray(y)
        return x + y[(..., *[None] * (x.ndim - y.ndim))]

    def f(x, y):
        return irax.pure_callback(host, like(x), x, y, vmap_method=method)

    found = jit(irax.vmap(f, in_axes=(1, None), out_axes=1))(x, y)
    np.testing.assert_array_equal(found, x + 10)
    assert shapes == expected


def test_vmap_of_vmap():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for outer in ("sequential", "broadcast_all", "expand_dims"):
        f = functools.partial(sine, vmap_method=outer)
        np.testing.assert_allclose(irax.jit(irax.vmap(irax.vmap(f)))(x), np.sin(x), rtol=1e-6)


def test_vmap_without_a_method():
    with pytest.raises(NotImplementedError, match=r"np_sin\S* does not say .* vmap_method="):
        irax.vmap(sine)(jnp.ones(3))
    assert irax.vmap(lambda x: sine(jnp.ones(2)) + x)(jnp.ones(3)).shape == (3, 2)


@BOTH
def test_vmap_of_io_goes_lane_by_lane(jit):
    def f(tape, x):
        tape.record(x)
        tape.record(-x, 5)
        return x

    expected = [(0.0,), (1.0,), (-0.0, 5), (-1.0, 5)]
    assert calls_of(lambda f: jit(irax.vmap(f)), f, jnp.arange(2.0)) == expected


def test_vmap_of_ordered_io_is_refused():
    with pytest.raises(ValueError, match=r"ordered io_callback of .* has no order over lanes"):
        irax.vmap(lambda x: io_callback(np_sin, like(x), x, ordered=True))(jnp.ones(2))


@BOTH
def test_each_lane_has_the_effects_of_its_own_branch_and_steps(jit):
    def f(tape, n):
        lax.cond(n > 1, lambda: tape.record(n, 1), lambda: tape.record(n, 0))
        return lax.while_loop(lambda i: i < n, lambda i: (tape.record(n, i), i + 1)[1], 10)

    found = calls_of(lambda f: jit(irax.vmap(f)), f, jnp.array([12, 1, 11]))
    expected = [(12, 1), (1, 0), (11, 1), (12, 10), (12, 11), (11, 10)]
    assert found == expected


# ---- life ----------------------------------------------------------------------------------------


def test_a_function_lives_as_long_as_what_calls_it():
    def make():
        offset = np.float32(5)

        def host(x):
            return np.asarray(x) + offset

        return host, irax.jit(lambda x: irax.pure_callback(host, like(x), x))

    host, f = make()
    gone = weakref.ref(host)
    assert f(1.0) == 6
    del host
    gc.collect()
    assert f(2.0) == 7
    ir = irax.make_ir(f)(3.0)
    del f
    gc.collect()
    assert gone() is not None
    del ir
    gc.collect()
    assert gone() is None


def test_a_module_without_its_function_says_so():
    def lost(x):
        return x

    def make():
        return str(irax.make_ir(lambda x: irax.pure_callback(lambda y: y, like(x), x))(jnp.ones(2)))

    text = make().replace("make.<locals>.<lambda>.<locals>.<lambda>", "somewhere.lost")
    assert "irax.callback" in text
    assert "somewhere.lost" in text
    for device in (None, "reference"):
        with pytest.raises((ValueError, NotImplementedError), match=r"somewhere\.lost.*not here"):
            irax.ir.load(text, "lambda", device=device)(np.ones(2, np.float32))


def test_functions_of_one_name_are_told_apart():
    def make(n):
        return lambda x: irax.pure_callback(lambda y: np.asarray(y) + np.float32(n), like(x), x)

    assert irax.jit(lambda x: make(1)(x) * make(10)(x))(0.0) == 10


def test_threads():
    def host(x):
        return np.asarray(x) * np.float32(threading.get_ident() % 1000)

    f = irax.jit(
        lambda x: lax.fori_loop(0, 20, lambda i, y: irax.pure_callback(host, like(x), x), x)
    )
    wrong = []

    def work():
        for _ in range(10):
            if f(1.0) != np.float32(threading.get_ident() % 1000):
                wrong.append(threading.get_ident())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_large_arrays_and_several_cores():
    x = np.random.default_rng(0).standard_normal((400, 400)).astype(np.float32)

    def f(x):
        y = x @ x
        z = irax.pure_callback(lambda y: np.asarray(y) * 2, like(y), y)
        return z @ x

    np.testing.assert_allclose(irax.jit(f)(x), 2 * (x @ x) @ x, rtol=1e-3, atol=1e-1)


def test_barrier():
    assert irax.effects_barrier() is None


@BOTH
def test_an_array_that_the_user_writes_to_again(jit):
    own = np.zeros(5000, np.float32)

    def host():
        own[:] += 1
        return own

    result = irax.ShapeDtypeStruct(own.shape, own.dtype)
    found = jit(lambda: [io_callback(host, result) for _ in range(3)])()
    own[:] = 9
    assert [float(x[0]) for x in found] == [1, 2, 3]


def test_traced_again_a_function_has_the_same_name():
    def f(x):
        irax.debug.print("{x}", x=x)
        return sine(x)

    texts = set()
    for _ in range(3):
        texts.add(str(irax.make_ir(lambda x: f(x))(1.0)))
        gc.collect()
    assert len(texts) == 1


def test_effects_in_a_branch_that_returns_nothing_that_is_needed():
    def f(tape, x):
        def loop(x):
            return lax.fori_loop(0, 2, lambda i, y: (tape.record(y), 2 * y)[1], x)

        lax.cond(x > 1, loop, lambda x: x - 1, x)
        return x

    assert calls_of(irax.jit, f, 2.0) == [(2.0,), (4.0,)]
    assert calls_of(irax.jit, f, 1.0) == []


def test_any_text_is_a_name(capsys):
    text = 'ä "quoted" \\ back\nslash @main {{}} {}'
    f = irax.jit(lambda x: irax.debug.print(text, x))
    f(1.5)
    assert capsys.readouterr().out == text.format(1.5) + "\n"
    module = str(irax.make_ir(f)(1.5))
    irax.ir.load(module, "lambda", device="reference")(np.float32(2.5))
    irax.ir.load(module, "lambda")(np.float32(3.5))
    assert capsys.readouterr().out == text.format(2.5) + "\n" + text.format(3.5) + "\n"


def test_a_callback_may_call_the_function_that_calls_it():
    @irax.jit
    def factorial(n):
        return lax.cond(n > 1, lambda: n * irax.pure_callback(factorial, like(n), n - 1), lambda: n)

    assert factorial(6) == 720


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [False, True])
def test_each_device_makes_its_own_calls(ordered):
    seen = []

    def double(x):
        seen.append(x.tolist())
        return 2 * x

    mapped = irax.pmap(lambda x: io_callback(double, like(x), x, ordered=ordered))
    mesh = irax.make_mesh((1,), ("i",))
    spec = irax.P("i")
    sharded = irax.shard_map(lambda x: sine(x[0])[None], mesh=mesh, in_specs=spec, out_specs=spec)
    np.testing.assert_array_equal(mapped(jnp.ones((1, 2))), [[2, 2]])
    assert seen == [[1.0, 1.0]]
    np.testing.assert_allclose(irax.jit(sharded)(jnp.ones(1)), np.sin([1.0]), rtol=1e-6)


def test_a_branch_with_a_callback_says_where_the_counter_is_written():
    """IREE loses an array that it fills with the counter before, in and after the branch."""

    def host(*numbers):
        return tuple(np.asarray(x, np.int32) for x in numbers)

    def step(state):
        i, at, left, following, written = state
        is_next = i == following
        at, left, following = lax.cond(
            is_next & (left == 0),
            lambda: irax.pure_callback(
                host, (irax.ShapeDtypeStruct((), np.int32),) * 3, at + 2, left, following
            ),
            lambda: (
                jnp.where(is_next, left - 1, at),
                jnp.where(is_next, left - 1, left),
                jnp.where(is_next, following + left, following),
            ),
        )
        row = jnp.where(is_next, i, written[at])
        return i + 1, at, left, following, written.at[at].set(row)

    start = (*map(np.int32, (0, 1, 2, 1)), jnp.zeros(4, np.int32))
    expected = start
    for _ in range(5):
        expected = step(expected)
    found = irax.jit(lambda n: lax.while_loop(lambda s: s[0] < n, step, start))(5)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def test_an_array_of_an_inner_loop_is_updated_where_the_host_says():
    """The loop's kernel has a number among its operands, which is in no memory."""

    def step(state):
        i, at, written = state
        _, at, written = lax.while_loop(
            lambda s: s[0] < at % 4,
            lambda s: (s[0] + 1, s[1] + s[0], s[2].at[s[0]].set(1.0)),
            (jnp.int32(0), at, written),
        )
        at = irax.pure_callback(lambda x: x + np.int32(1), like(at), at)
        return i + 1, at, written.at[at].set(2.0)

    start = jnp.int32(0), jnp.int32(2), jnp.zeros(1200)
    _, at, written = irax.jit(lambda n: lax.while_loop(lambda s: s[0] < n, step, start))(3)
    assert at == 6
    np.testing.assert_array_equal(written[:8], [1, 1, 0, 0, 2, 2, 2, 0])


def test_a_branch_is_joined_to_what_was_computed_before():
    """IREE would move the branch before the kernel that writes beside its result."""

    @irax.jit
    def joined(p, x, y):
        before, inside = jnp.cumsum(y), jnp.cumsum(x)
        double = lambda: irax.pure_callback(lambda x: 2 * x, like(inside), inside)
        return jnp.concatenate([lax.cond(p, double, lambda: inside), before])

    x = jnp.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(joined(True, x, 3 * x), [2, 6, 14, 3, 9, 21])
    np.testing.assert_array_equal(joined(False, x, 3 * x), [1, 3, 7, 3, 9, 21])
