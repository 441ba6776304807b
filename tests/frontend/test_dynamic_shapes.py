"""Programs that are compiled once for all sizes, by jit and in files."""

import functools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax_runtime
from irax import export
from irax.execution import backend


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
    with pytest.raises(ValueError, match=r"batch for args\[1\].shape\[0\] with batch >= 1, got 0"):
        step(w, array(0, 4))


def test_a_program_for_each_size_where_the_target_has_no_other():
    counted, times = traced(lambda x: jnp.sort(x)[::-1])
    f = irax.jit(counted, dynamic_shapes={"x": "n"})
    for n in (1, 5, 6):
        x = array(n)
        np.testing.assert_array_equal(f(x), np.sort(x)[::-1])
    assert len(times) == 1
    (told,) = irax.explain(f).sizes
    assert told.startswith("(float32[n]) is compiled for each size: ")


def test_sizes_that_are_found():
    counted, times = traced(lambda x, y: (x * 2.0 + y, x.sum() / x.shape[0]))
    f = irax.jit(counted, dynamic_shapes="auto")
    for n in (2, 3, 4, 9, 1):
        x = array(n, 3)
        found, mean = f(x, x)
        np.testing.assert_allclose(found, 3 * x, rtol=1e-6)
        np.testing.assert_allclose(mean, x.sum() / n, rtol=1e-5)
    assert len(times) == 3  # two of known sizes, and one for all others
    # Two sizes that were equal so far; and no one function is for all of these.
    np.testing.assert_allclose(f(array(5, 3), array(1, 3))[0], array(5, 3) * 2 + array(1, 3))
    np.testing.assert_allclose(f(array(6, 3), array(6, 3))[0], array(6, 3) * 3, rtol=1e-6)
    assert len(times) == 5


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


def causal(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    places = jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])
    weights = irax.nn.softmax(jnp.where(places, scores, -1e9), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


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
        results = [x.numpy() for x in program.run([device.put(x) for x in given])]
        expected = irax.tree.leaves(function(*map(jnp.asarray, given)))
        for x, y in zip(results, expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
