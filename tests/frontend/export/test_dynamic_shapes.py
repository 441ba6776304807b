"""Programs that are compiled once for all sizes, by jit and in files."""

import functools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax_runtime
from irax import export, lax
from irax.core.refs import refs
from irax.execution import backend, specialized
from irax_compiler.passes.sizes.lowering import lowering


@pytest.fixture(autouse=True)
def without_refs():
    """Refs that other tests left are hidden: while there are some, `jit` traces a function for each
    signature, to know whether it touches them.
    """
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(refs, "exist", lambda: False)
        yield


def array(*shape):
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def traced(function):
    """The function, and a list with an entry for each time that it is traced."""
    times = []

    @functools.wraps(function)
    def counted(*args):
        times.append(args)
        return function(*args)

    return counted, times


def loss(w, x):
    h = jnp.concatenate([jnp.maximum(x @ w, 0.0), x], 1)
    return (h**2).mean() * x.shape[0]


def test_one_program_for_all_sizes():
    counted, times = traced(irax.value_and_grad(loss))
    step = irax.jit(counted, dynamic_shapes={"x": ("batch", None)})
    w = array(4, 3)
    for n in (1, 2, 7, 32):
        x = array(n, 4)
        expected = irax.value_and_grad(loss)(w, x)
        for found in (step(w, x), step(w, jnp.asarray(x))):
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-4)
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-4, atol=1e-5)
    assert len(times) == 1
    (told,) = irax.explain(step).sizes
    assert told == "one program for all sizes of (float32[4,3], float32[batch,4])"
    assert irax.explain(step).traced == 1
    with pytest.raises(ValueError, match=r"batch for x.shape\[0\] with batch >= 1, got 0"):
        step(w, array(0, 4))


@pytest.fixture
def at_once(monkeypatch):
    """Sizes have programs of their own after their first call; returns what waits for these."""
    monkeypatch.setattr(specialized.Specializations, "worth", property(lambda _: 0.0, lambda *_: 0))

    def wait(function):
        (program,) = function._dynamic._programs.values()
        if program.own.now is not None:
            program.own.now.outcome()

    return wait


@pytest.mark.slow
def test_sizes_that_are_called_often_have_programs_of_their_own(at_once, monkeypatch):
    monkeypatch.setattr(specialized, "MOST", 2)
    step = irax.jit(loss, dynamic_shapes={"x": "batch, _"})
    w = array(4, 3)
    for n in (1, 7, 9):
        x = array(n, 4)
        for _ in range(3):
            np.testing.assert_allclose(step(w, x), loss(w, x), rtol=1e-4)
            at_once(step)
    assert irax.explain(step).sizes == (
        "one program for all sizes of (float32[4,3], float32[batch,4])",
        "one for (float32[4,3], float32[1,4]) alone",
        "one for (float32[4,3], float32[7,4]) alone",
    )


def test_no_program_of_its_own_without_the_option(at_once):
    before = irax.config.specialize_sizes
    irax.config.update("specialize_sizes", False)
    try:
        double = irax.jit(lambda x: x * 2, dynamic_shapes={"x": "n"})
        for _ in range(3):
            np.testing.assert_array_equal(double(array(5)), array(5) * 2)
        at_once(double)
    finally:
        irax.config.update("specialize_sizes", before)
    assert irax.explain(double).sizes == ("one program for all sizes of (float32[n])",)


def test_donated_arguments_are_gone_whichever_program_runs(at_once):
    add = irax.jit(lambda x, y: x + y, donate_argnums=0, dynamic_shapes={"x": "n", "y": "n"})
    y = jnp.ones(6)
    for n in range(4):
        x = jnp.full(6, float(n))
        np.testing.assert_array_equal(add(x, y), np.full(6, n + 1.0, np.float32))
        at_once(add)
        with pytest.raises(RuntimeError, match=r"deleted|donated"):
            x + 1


def test_a_program_for_each_size_where_the_target_has_no_other():
    counted, times = traced(lambda x: jnp.fft.fft(x).real)
    f = irax.jit(counted, dynamic_shapes={"x": "n"})
    for n in (1, 5, 6):
        x = array(n)
        np.testing.assert_allclose(f(x), np.fft.fft(x).real, rtol=1e-4, atol=1e-4)
    assert len(times) == 1
    (told,) = irax.explain(f).sizes
    assert told.startswith("(float32[n]) is compiled for each size: ")


def test_loops_on_which_the_compiler_would_crash():
    def f(x, y):
        return irax.lax.while_loop(
            lambda c: c[0].sum() + c[1].sum() > 0.1, lambda c: (c[0] * 0.5, c[1] * 0.7), (x, y)
        )

    g = irax.jit(f, dynamic_shapes={"x": "n", "y": "m"})
    x, y = abs(array(3)), abs(array(5))
    for found, expected in zip(g(x, y), f(x, y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    (told,) = irax.explain(g).sizes
    assert "stablehlo.while" in told


def test_every_second_element():
    f = irax.jit(lambda x: x[::2, 1::3] + 1, dynamic_shapes={"x": "n, m"})
    for sizes in ((1, 1), (2, 3), (4, 2), (7, 8)):
        x = array(*sizes)
        np.testing.assert_array_equal(f(x), x[::2, 1::3] + 1)


def normalized(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * irax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def layer(w, x):
    return irax.nn.relu(x @ w + w[0])


def numbers(x):
    """Integers from -50 to 50."""
    return (x * 50).astype("int32")


KERNELS = {
    "sums": (lambda x: (x.sum(), x.sum(0), x.sum(1), (x > 0).any(), x.max(1)), ["b,100"]),
    "deviations": (lambda x: x.std(0), ["b,100"]),
    "softmax": (lambda x: (irax.nn.softmax(x), irax.nn.softmax(x, 0)), ["b,l"]),
    "norm": (irax.value_and_grad(lambda x: (normalized(x) ** 2 * x).sum()), ["b,100"]),
    "vector": (lambda x: (x.sum(), (x[1:] - x[:-1]).sum(), irax.nn.softmax(x)), ["b"]),
    "images": (lambda x: (x.mean((0, 1, 2)), x.var((0, 1, 2))), ["b,4,l,32"]),
    "layer": (irax.value_and_grad(lambda w, x: layer(w, x).mean()), ["64,48", "b,64"]),
    "batches": (lambda x, y: x @ y, ["b,32,l", "b,l,48"]),
    "places": (
        lambda x: (jnp.arange(x.shape[0] + 2).max(), jnp.arange(x.shape[1])[::-1].sum()),
        ["b,l"],
    ),
    "views": (lambda x: (x[:, ::2] + x[:, 1::2], jnp.tril(x[:, :90]), x.T * 2), ["b,100"]),
    "images and rows": (lambda x, y: (x - x.mean((0, 1))) * y + 1, ["b,9,32", "32"]),
    "rows": (
        lambda x, y: (jnp.concatenate([x, y[:, 1:]], 1), x[:, ::-1], jnp.pad(x, ((0, 2), (3, 1)))),
        ["b,100", "b,33"],
    ),
    "elementwise": (lambda x: irax.nn.selu(x) * 2, ["b"]),
    "step": (
        lambda w, x, y: w - irax.grad(lambda w: ((x @ w - y) ** 2).mean())(w),
        ["3", "b,3", "b"],
    ),
    "gathered rows": (
        lambda t, u, i: (t[numbers(i)], u[numbers(i)], jnp.take(u, numbers(i), 0, mode="fill")),
        ["40,64", "l,32", "b"],
    ),
    "convolutions": (
        lambda x, k: (filtered(x, k), filtered(x, k, 2), filtered(x, k[:1, :1])),
        ["b,9,6,16", "3,3,16,32"],
    ),
    "scans": (
        lambda x: (
            jnp.cumsum(x, 0),
            irax.lax.cummax(x, 0, reverse=True),
            jnp.cumprod(numbers(x), 1),
            irax.grad(lambda x: (jnp.cumsum(x.reshape(-1)) ** 2).sum())(x),
        ),
        ["b,l"],
    ),
    "heads": (lambda x: irax.nn.dot_product_attention(x, x, x), ["b,l,2,64"]),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_for_all_sizes(name):
    function, shapes = KERNELS[name]
    jitted = irax.jit(lambda xs: function(*xs), dynamic_shapes={"xs": shapes})
    for sizes in ({"b": 1, "l": 1}, {"b": 2, "l": 17}, {"b": 67, "l": 3}, {"b": 300, "l": 64}):
        given = [
            jnp.asarray(array(*(sizes.get(n) or int(n) for n in shape.split(","))))
            for shape in shapes
        ]
        expected = irax.tree.leaves(function(*given))
        for x, y in zip(irax.tree.leaves(jitted(given)), expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4)
    (told,) = irax.explain(jitted).sizes
    assert told.startswith("one program for all sizes")


@pytest.mark.slow
def test_unsigned_integers_for_all_sizes():
    def f(x):
        parts = x[::-1, 1:], jnp.pad(x, 1), x.reshape(-1)[::2], x.astype("float32").mean(0)
        parts = *parts, irax.lax.pad(x, x[0, 0], [(-1, 2, 0), (1, 0, 1)])
        return *parts, x // 3 + x.shape[0], irax.lax.cond(x.sum() > 4, lambda: x * 2, lambda: x)

    g = irax.jit(f, dynamic_shapes={"x": "n, m"})
    for dtype in ("uint8", "uint32"):
        for sizes in ((1, 1), (4, 3), (5, 2)):
            x = jnp.asarray(array(*sizes) * 90 + 100).astype(dtype)
            for found, expected in zip(g(x), f(x), strict=True):
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert all(told.startswith("one program for all sizes") for told in irax.explain(g).sizes)


def test_sizes_that_have_two_forms():
    def f(x):
        line = jnp.pad(x, (0, 5)).reshape(1, 1, -1)
        return irax.lax.conv_general_dilated(line, jnp.ones((2, 1, 3)), (2,), [(2, 1)])

    g = irax.jit(f, dynamic_shapes={"x": "n"})
    for n in (1, 2, 7):
        np.testing.assert_allclose(g(array(n)), f(array(n)), rtol=1e-5, atol=1e-6)


def test_sizes_that_are_found():
    counted, times = traced(lambda x, y: (x * 2.0 + y, x.sum() / x.shape[0]))
    f = irax.jit(counted, dynamic_shapes="auto")
    for n in (2, 3, 4, 9, 1):
        x = array(n, 3)
        found, mean = f(x, x)
        np.testing.assert_allclose(found, 3 * x, rtol=1e-6)
        np.testing.assert_allclose(mean, x.sum() / n, rtol=1e-5)
    assert len(times) == 2  # one of known sizes, and one for all others
    # Two sizes that were equal so far; and no one function is for all of these.
    np.testing.assert_allclose(f(array(5, 3), array(1, 3))[0], array(5, 3) * 2 + array(1, 3))
    np.testing.assert_allclose(f(array(6, 3), array(6, 3))[0], array(6, 3) * 3, rtol=1e-6)
    assert len(times) == 4


def test_an_empty_batch_among_others():
    counted, times = traced(lambda x: x * 2.0)
    f = irax.jit(counted, dynamic_shapes="auto")
    for n in (2, 3, 4, 0, 5, 0, 6):
        np.testing.assert_array_equal(f(array(n)), array(n) * 2)
    assert len(times) == 3  # one of known sizes, one for all, and one for 0
    assert len(irax.explain(f).sizes) == 1


@pytest.mark.slow
def test_sizes_that_the_form_of_a_function_depends_on():
    counted, times = traced(lambda x: x * 2 if x.shape[0] > 4 else x)
    f = irax.jit(counted, dynamic_shapes="auto")
    for n in (2, 3, 4, 5, 6):
        np.testing.assert_array_equal(f(array(n)), array(n) * (2 if n > 4 else 1))
    assert len(times) == 6


def test_pytrees_and_captured_arrays():
    table = jnp.asarray(array(20, 3))

    def f(params, batch):
        return {"y": batch["x"] @ params["w"] + table.sum(0), "n": batch["x"].shape[0]}

    g = irax.jit(f, dynamic_shapes={"batch": {"x": "b, ..."}})
    for n in (1, 4):
        given = {"w": array(4, 3)}, {"x": array(n, 4)}
        found = g(*given)
        expected = given[1]["x"] @ given[0]["w"] + np.asarray(table).sum(0)
        np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-5)
        assert found["n"] == n
        assert found["n"].dtype == np.int32


def test_parameters_of_all_kinds():
    def f(n, x, *rest, y=None, **others):
        return x * n + sum(rest) + (0 if y is None else y) + sum(others.values())

    x = array(3, 2)
    for options, spec, args, kwargs in [
        ({"static_argnums": 0}, {"x": "b, _"}, (2, x), {}),
        ({"static_argnames": "n"}, {"x": "b, _"}, (), {"n": 2, "x": x}),
        ({}, {"x": "b, _", "rest": "b, _"}, (2.0, x, x, x), {}),
        ({}, {"x": "b, _", "y": "b, _", "others": {"z": "b, _"}}, (2.0, x), {"y": x, "z": x}),
    ]:
        g = irax.jit(f, dynamic_shapes=spec, **options)
        np.testing.assert_allclose(g(*args, **kwargs), f(*args, **kwargs), rtol=1e-6)
        (told,) = irax.explain(g).sizes
        assert "[3,2]" not in told


def test_what_the_option_may_be():
    f = lambda x, y: x + y
    for option, error, what in [
        ({"z": "n"}, ValueError, "names 'z': the function has the parameters x, y"),
        (("n", None), TypeError, 'must be "auto", or a dict of shapes'),
    ]:
        with pytest.raises(error, match=what):
            irax.jit(f, dynamic_shapes=option)
    with pytest.raises(ValueError, match=r"dynamic_shapes\['x'\]: .*1 dimensions"):
        irax.jit(f, dynamic_shapes={"x": "n"})(array(2, 2), 1.0)
    with pytest.raises(irax.errors.InconclusiveDimensionOperation, match="'n > 2'"):
        irax.jit(lambda x: x if x.shape[0] > 2 else -x, dynamic_shapes={"x": "n"})(array(3))


def begun(z):
    """Two loops that begin with the same array."""
    loops = [irax.lax.fori_loop(0, 1, lambda i, c, v=v: c.at[i].set(v), z) for v in (1.0, 2.0)]
    return *loops, z


def of_first_row(x):
    wide = jnp.broadcast_to(x, (3, x.shape[0], x.shape[0]))
    return (wide[jnp.array([0])] * jnp.sin(x)).sum()


SHARED = {
    "pads": lambda x: (jnp.pad(x, (1, 2)), jnp.pad(x * 2, (2, 1)), jnp.zeros(x.shape[0] + 3)),
    "zeros": lambda x: (
        (z := jnp.zeros(x.shape)).at[0].set(1.0),
        z.at[-1].set(2.0),
        z,
    ),
    "loops": lambda x: (begun(jnp.zeros(x.shape)), begun(jnp.arange(x.shape[0]) * 1.0)),
    "steps": irax.grad(
        lambda x: irax.lax.fori_loop(0, 3, lambda i, c: c + of_first_row(c), x).sum()
    ),
    "branches": lambda x: irax.lax.cond(
        x.sum() > 0, lambda: (x.sum(), x * 2, x + 1), lambda: (x[0], x - 1, x * 3)
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SHARED)
def test_arrays_that_depend_on_sizes_alone_are_not_overwritten(name):
    jitted = irax.jit(SHARED[name], dynamic_shapes={"x": "n"})
    for n in (1, 5):
        expected = irax.tree.leaves(SHARED[name](jnp.asarray(array(n))))
        for x, y in zip(irax.tree.leaves(jitted(array(n))), expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    (told,) = irax.explain(jitted).sizes
    assert told.startswith("one program for all sizes")


def test_sizes_beyond_what_a_program_is_for(tmp_path, monkeypatch):
    monkeypatch.setattr(lowering, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(lowering, "LEAST", 1 << 4)
    specs = export.symbolic_args_specs((array(4, 4),), "a, b")
    export.export(irax.jit(lambda x: x @ x.T))(*specs).save(tmp_path / "f.irax")
    program = irax_runtime.load(tmp_path / "f.irax")
    np.testing.assert_allclose(program(array(3, 4)), array(3, 4) @ array(3, 4).T, rtol=1e-5)
    with pytest.raises(ValueError, match=r"program is for sizes up to 511, got a = 600"):
        program(array(600, 1))
    jitted = irax.jit(lambda x: x @ x.T, dynamic_shapes={"x": "a, b"})
    for shape in ((3, 4), (600, 1)):
        x = array(*shape)
        np.testing.assert_allclose(jitted(x), x @ x.T, rtol=1e-5)


def test_files_for_all_sizes(tmp_path):
    specs = export.symbolic_args_specs(
        (array(4, 3), array(2, 4)), ("...", "b, _"), constraints=["b <= 64"]
    )
    made = export.export(irax.jit(lambda w, x: {"y": jnp.tanh(x @ w), "m": x.mean(0)}))(*specs)
    made.save(tmp_path / "f.irax")
    program = irax_runtime.load(tmp_path / "f.irax")
    w = array(4, 3)
    for n in (1, 5, 33):
        found = program(w, array(n, 4))
        np.testing.assert_allclose(found["y"], np.tanh(array(n, 4) @ w), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["m"], array(n, 4).mean(0), rtol=1e-5, atol=1e-6)
    for shape, what in [
        ((0, 4), r"expected a size b for args\[1\].shape\[0\] with b >= 1, got 0"),
        ((65, 4), "the constraint b <= 64 does not hold for b = 65"),
        ((3, 5), r"expected size 4 for args\[1\].shape\[1\], got 5"),
        ((4,), r"is float32\[4\]; expected float32\[b,4\]"),
    ]:
        with pytest.raises(ValueError, match=what):
            program(w, array(*shape))
    again = export.load(tmp_path / "f.irax")
    np.testing.assert_allclose(again.call(w, array(3, 4))["m"], array(3, 4).mean(0), rtol=1e-5)


@pytest.mark.slow
def test_files_of_images_and_loops(tmp_path):
    def both(x, kernel, rows, w):
        pooled = irax.lax.reduce_window(
            filtered(x, kernel), -jnp.inf, irax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"
        )
        return pooled, recurrent(w, rows)

    shapes = ["b - 1, 5, 5, 3", "3, 3, 3, 4", "t - 1, b, 4", "4, 4"]
    scope = export.SymbolicScope()
    specs = [
        irax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), "float32") for s in shapes
    ]
    export.export(irax.jit(both))(*specs).save(tmp_path / "f.irax")
    program = irax_runtime.load(tmp_path / "f.irax")
    for b, t in ((1, 1), (2, 4), (6, 2)):
        given = array(b - 1, 5, 5, 3), array(3, 3, 3, 4), array(t - 1, b, 4), array(4, 4)
        expected = irax.tree.leaves(both(*map(jnp.asarray, given)))
        for x, y in zip(irax.tree.leaves(program(*given)), expected, strict=True):
            assert x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def dot_products(x, y):
    return x @ y, y @ y.T, x @ x, x @ y[:, 0], y.T @ x


def of_elements(x, y):
    """Reads and writes elements that an empty array lacks, in steps of a loop that there may not
    be."""
    first = numbers(y)[0, 0] % 2
    rows = irax.lax.fori_loop(0, 2, lambda i, c: c.at[i // 2].add(x[:1].sum(0)), x)
    return x.at[first].set(1.0), rows


def carried_twice(x, y):
    """Loops that begin with one array, and may take no step."""
    z = jnp.sin(y)
    f = lambda i, c: (c[1], jnp.flip(c[0], 0) + i)
    sums = irax.lax.fori_loop(0, x.shape[0], lambda i, c: c.at[0].add(c[1:].sum(0) * i), z)
    return sums, irax.lax.fori_loop(0, x.shape[0], f, (z, z * 2)), z


def trained(x, y):
    return irax.value_and_grad(lambda x: (recurrent(jnp.eye(3), x)[1] ** 2).sum())(x[:, None])


EMPTY = {
    "products": dot_products,
    "elements": of_elements,
    "loops": carried_twice,
    "scans": trained,
    "cumulative sums": lambda x, y: (jnp.cumsum(x, 0), jnp.diff(jnp.cumsum(x[:, 0]))),
    "every second": lambda x, y: irax.vmap(lambda r: r.at[::2].set(r[::2] * 2))(x.T),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", EMPTY)
def test_empty_arrays(name):
    """A program is called for other sizes first, so that memory is not all zeros."""
    shapes = {
        "products": ("n - 1", "n - 1, 3"),
        "elements": ("n - 1, 3", "m, 3"),
    }.get(name, ("n - 1, 3", "m, 3"))
    scope = export.SymbolicScope()
    specs = [
        irax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), "float32") for s in shapes
    ]
    made = export.export(irax.jit(EMPTY[name]))(*specs)
    device = irax.devices("cpu")[0]
    program = backend.compile(made._module, made.fun_name, device)
    for n, m in ((5, 3), (8, 2), (1, 3), (1, 4), (2, 1)):
        given = [
            array(*(int(eval(part, {}, {"n": n, "m": m})) for part in s.split(","))) for s in shapes
        ]
        found = [x.numpy() for x in program.run([device.put(x) for x in given])]
        if name == "elements" and n == 1:
            expected = [given[0]] * 2
        else:
            expected = irax.tree.leaves(EMPTY[name](*map(jnp.asarray, given)))
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def causal(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    places = jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])
    weights = irax.nn.softmax(jnp.where(places, scores, -1e9), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def places(x):
    """Some integers, which need not be places in an array."""
    return (x.reshape(-1) * 3).astype("int32")


def filtered(x, kernel, stride=1):
    dims = ("NHWC", "HWIO", "NHWC")
    return irax.lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=dims
    )


def mixed(c, row):
    return c * 0.5 + jnp.sin(row), c


def recurrent(w, x):
    return irax.lax.scan(lambda h, x: (jnp.tanh(h @ w + x),) * 2, jnp.zeros(x.shape[1:]), x)


PROGRAMS = {
    "functions": (
        lambda x: jnp.sin(x) + jnp.tanh(x) * irax.nn.gelu(x) + jnp.abs(x) ** x,
        ["n, 5"],
    ),
    "attention": (causal, ["n, m, 2, 4"] * 3),
    "matrices": (lambda x, y: (x @ y).T, ["n, m", "m, k"]),
    "moves": (
        lambda x: (x.reshape(-1)[1::2], x[::-1], jnp.pad(x, ((1, 2), (0, 1))), jnp.roll(x, 1, 0)),
        ["n + 1, 3"],
    ),
    "folds": (
        lambda x: (x.max(0), x.prod(1), x.argmax(-1), (x > 0).reshape(-1).any(), x.var(0)),
        ["n, 3"],
    ),
    "lanes": (irax.vmap(irax.grad(lambda x: jnp.sin(x).sum() ** 2)), ["n, 3"]),
    "rows": (
        lambda x, y: (x[places(y)], y.astype("uint8")[places(x)], (x > 0)[places(y)]),
        ["n, 3", "m"],
    ),
    "rows that are written": (
        lambda x, y: (
            jnp.zeros((4, 3)).at[places(y)].add(x[0]),
            irax.grad(lambda x: (x[places(y)] ** 2).sum())(x),
            x.at[places(y)].max(0.2),
        ),
        ["n, 3", "m - 1"],
    ),
    "branches": (
        lambda x: (
            irax.lax.cond(x.sum() > 0, jnp.sin, lambda x: x - 1, x),
            irax.lax.switch(x.shape[0] % 3, [jnp.cos, lambda x: x * 2, lambda x: x], x),
        ),
        ["n - 1, 3"],
    ),
    "random numbers": (
        lambda x: (
            irax.random.normal(irax.random.key(0), x.shape),
            irax.random.bits(irax.random.key(1), x.shape),
            irax.random.bernoulli(irax.random.key(2), 0.5, x.shape),
        ),
        ["n - 1, 3"],
    ),
    "images": (
        lambda x, k: (
            (h := filtered(x, k)),
            irax.lax.reduce_window(h, -jnp.inf, irax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            irax.lax.reduce_window(h, 0.0, irax.lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
            irax.grad(lambda x: (filtered(x, k, 2) ** 2).sum())(x),
        ),
        ["n - 1, 8, 8, 3", "3, 3, 3, 4"],
    ),
    "segments": (
        lambda x: irax.ops.segment_sum(x, jnp.arange(x.shape[0]) % 3, 3),
        ["n, 4"],
    ),
    "dilated": (lambda x: jnp.stack([x, x * 2], 1).reshape(-1, 3)[::2] + x, ["n, 3"]),
    "loops": (
        lambda x: (
            irax.lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) + i, x),
            irax.lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i] * i, jnp.zeros(3)),
            irax.lax.fori_loop(0, 3, lambda i, c: (c[1], c[0] * 2), (x, x[::-1])),
        ),
        ["n, 3"],
    ),
    "scans": (
        lambda x: (
            irax.lax.scan(lambda c, r: (c + r, (c + r, c * r)), jnp.ones(3), x),
            irax.grad(lambda x: (irax.lax.scan(mixed, jnp.zeros(3), x)[1] ** 2).sum())(x),
            irax.vmap(lambda x: irax.lax.scan(mixed, 1.0, x, reverse=True))(x),
        ),
        ["n, 3"],
    ),
    "a recurrent network": (
        irax.value_and_grad(lambda w, x: (recurrent(w, x)[1] ** 2).mean()),
        ["4, 4", "n, m, 4"],
    ),
    "arrays of three unknown sizes": (
        lambda x: irax.lax.scan(
            lambda c, r: ((c[1] * r, c[0] + r), (c[0], c[1] * 2)), (x, x * 2), jnp.arange(3.0)
        ),
        ["n, m, k"],
    ),
    "places": (lambda x: jnp.eye(x.shape[0]) * jnp.arange(x.shape[0]) + x[:, :1], ["n, 3"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_all_families(name):
    function, shapes = PROGRAMS[name]
    scope = export.SymbolicScope()
    specs = [
        irax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), "float32") for s in shapes
    ]
    made = export.export(irax.jit(function))(*specs)
    device = irax.devices("cpu")[0]
    program = backend.compile(made._module, made.fun_name, device)
    for values in ({"n": 1, "m": 1, "k": 1}, {"n": 3, "m": 2, "k": 5}, {"n": 16, "m": 17, "k": 2}):
        known = [[int(eval(part, {}, values)) for part in s.split(",")] for s in shapes]
        given = [array(*shape) for shape in known]
        put = [device.put(x.copy()) for x in given]
        results = [x.numpy() for x in program.run(put)]
        for x, before in zip(put, given, strict=True):
            np.testing.assert_array_equal(x.numpy(), before)
        expected = irax.tree.leaves(function(*map(jnp.asarray, given)))
        for x, y in zip(results, expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def convolved(x, groups):
    kernel = jnp.ones((3, 3, 4 // groups, 4), x.dtype)
    dims = ("NHWC", "HWIO", "NHWC")
    return irax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=dims, feature_group_count=groups
    )


def largest(x):
    shape = (1, 2, 2, 1)
    return irax.lax.reduce_window(x, -jnp.inf, irax.lax.max, shape, shape, "VALID")


ROWS, IMAGES, MATRICES = ("n, 6", "float32"), ("n, 8, 8, 4", "float32"), ("n, 4, 4", "float32")
COMPLEX = "n, 6", "complex64"
REFINED = {
    "fft": (jnp.fft.fft, COMPLEX),
    "cumulative sum of complex": (lambda x: jnp.cumsum(x, 0), COMPLEX),
    "qr": (jnp.linalg.qr, MATRICES),
    "det": (jnp.linalg.det, MATRICES),
    "wide images": (lambda x: convolved(x, 1), ("2, n, 8, 4", "float32")),
    "groups of one": (lambda x: convolved(x, 4), IMAGES),
    "gradient of a maximum": (irax.grad(lambda x: largest(x).sum()), IMAGES),
    "while": (lambda x: irax.lax.while_loop(lambda x: x.sum() > 1, lambda x: x / 2, x), ROWS),
    "bits": (lambda x: irax.lax.bitcast_convert_type(x, "int8"), ROWS),
}
ONE = {
    "sort": (lambda x: jnp.sort(x, 1), ROWS),
    "top_k": (lambda x: irax.lax.top_k(x, 2), ROWS),
    "argmax": (lambda x: jnp.argmax(x, 0), ROWS),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.arange(5.0), x[:, 0]), ROWS),
    "complex": (lambda x: jnp.abs(jnp.exp(x) @ x.T[:, ::-1]), COMPLEX),
    "gradient of complex": (irax.grad(lambda x: (jnp.abs(x) ** 2).sum()), COMPLEX),
    "cholesky": (lambda x: jnp.linalg.cholesky(x @ x.mT + 4 * jnp.eye(4)), MATRICES),
    "groups": (lambda x: convolved(x, 2), IMAGES),
    "gradient of a convolution": (irax.grad(lambda x: (convolved(x, 1) ** 2).sum()), IMAGES),
    "maximum": (largest, IMAGES),
}
"""The two columns of the table in docs/export.md."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [*REFINED, *ONE])
def test_what_has_a_program_for_all_sizes(name: str):
    function, (shape, dtype) = (REFINED | ONE)[name]
    jitted = irax.jit(lambda x: function(x), dynamic_shapes={"x": shape})
    for n in (2, 5):
        sizes = [n if part == "n" else int(part) for part in shape.split(", ")]
        x = array(*sizes).astype(dtype) * (1 if dtype == "float32" else 1 + 1j)
        expected = irax.tree.leaves(function(jnp.asarray(x)))
        for found, own in zip(irax.tree.leaves(jitted(x)), expected, strict=True):
            np.testing.assert_allclose(found, own, rtol=1e-3, atol=1e-4)
    (told,) = irax.explain(jitted).sizes[:1]
    assert told.startswith("one program for all sizes") == (name in ONE)


SORTS = {
    "sort": (jnp.sort, np.sort),
    "argsort": (jnp.argsort, lambda x: np.argsort(x, kind="stable")),
    "columns": (lambda x: jnp.sort(x, 0), lambda x: np.sort(x, 0)),
    "descending": (
        lambda x: jnp.sort(x, descending=True),
        lambda x: np.sort(x)[..., ::-1],
    ),
    "top_k": (
        lambda x: lax.top_k(x, 1),
        lambda x: (x.max(-1, keepdims=True), x.argmax(-1, keepdims=True)),
    ),
    "median": (lambda x: jnp.median(x, -1), lambda x: np.median(x, -1)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", ["n", "b, n", "b, 5"])
@pytest.mark.parametrize("name", ["sort", pytest.param("argsort", marks=pytest.mark.slow)])
def test_exported_sorts_of_all_sizes(name, shape, tmp_path):
    check_exported_sort(name, shape, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SORTS.keys() - {"sort", "argsort"}))
def test_other_exported_sorts_of_all_sizes(name, tmp_path):
    check_exported_sort(name, "b, n", tmp_path)


def check_exported_sort(name, shape, folder):
    function, reference = SORTS[name]
    struct = irax.ShapeDtypeStruct(export.symbolic_shape(shape), "float32")
    export.export(irax.jit(function))(struct).save(folder / "f.irax")
    program = irax_runtime.load(folder / "f.irax")
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 8, 17, 64, 100):
        sizes = {"n": (n,), "b, n": (3, n), "b, 5": (n, 5)}[shape]
        x = rng.integers(0, 40, sizes).astype(np.float32)  # with equal elements
        expected = reference(x)
        found = program(x)
        for y, z in zip(*map(irax.tree.leaves, (found, expected)), strict=True):
            np.testing.assert_array_equal(y, z)
