"""Options, and the functions that tell of the system."""

import logging

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax, random

LEGACY = random.PRNGKey(0)


def test_ranks():
    x, y = jnp.ones((2, 3)), jnp.ones(3)
    with irax.numpy_rank_promotion("raise"):
        assert (x + 1 + x[:1]).shape == (2, 3)
        for add in (jnp.add, irax.jit(jnp.add).trace):
            with pytest.raises(ValueError, match=r"add: .*\(2, 3\) and \(3,\) differ in rank"):
                add(x, y)
        assert jnp.where(x > 0, x, y).shape == (2, 3)  # as in JAX, which broadcasts there
    with irax.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="rank"):
        x + y


def test_strict_promotion():
    i, f = jnp.arange(3), jnp.ones(3)
    with irax.numpy_dtype_promotion("strict"):
        assert (f + 1).dtype == np.float32
        assert (i * 2).dtype == np.int32
        for call in (lambda: i + f, lambda: i + 1.5, lambda: jnp.where(True, i, f)):
            with pytest.raises(irax.dtypes.TypePromotionError, match="strict"):
                call()


@pytest.mark.parametrize(
    ("precision", "text"),
    [("highest", "HIGHEST"), ("TF32_TF32_F32", "tf32"), ("float32", "HIGHEST")],
)
def test_precision(precision, text):
    x = jnp.ones((2, 2))
    with irax.default_matmul_precision(precision):
        assert text in str(irax.make_ir(jnp.matmul)(x, x))
        assert "DEFAULT" in str(irax.make_ir(lambda x: lax.dot(x, x, precision="default"))(x))
        irax.make_ir(lambda x: lax.conv(x, x, (1, 1), "VALID"))(jnp.ones((1, 1, 3, 3)))


def test_kinds_of_keys():
    with irax.legacy_prng_key("error"):
        random.uniform(random.key(0))
        with pytest.raises(ValueError, match="raw words"):
            random.uniform(LEGACY)
    with irax.legacy_prng_key("warn"), pytest.warns(UserWarning, match="raw words"):
        random.split(LEGACY)
    with irax.default_prng_impl("threefry2x32"):
        assert random.key_impl(random.key(0)) == "threefry2x32"
    with irax.default_prng_impl("rbg"):
        assert random.key_impl(random.key(0)) == "rbg"
    with pytest.raises(ValueError, match="threefry2x32"):
        irax.config.update("jax_default_prng_impl", "mersenne")


DRAWS = {
    "split": lambda k: random.split(k),
    "normal": lambda k: random.normal(k),
    "gamma": lambda k: random.gamma(k, 2.0),
    "beta": lambda k: random.beta(k, 2.0, 3.0),
    "bernoulli": lambda k: random.bernoulli(k),
    "randint": lambda k: random.randint(k, (), 0, 9),
    "choice": lambda k: random.choice(k, 5, (3,), replace=False),
    "permutation": lambda k: random.permutation(k, 5),
    "categorical": lambda k: random.categorical(k, jnp.ones(3)),
    "poisson": lambda k: random.poisson(k, 3.0),
    "binomial": lambda k: random.binomial(k, 5, 0.5),
    "multinomial": lambda k: random.multinomial(k, 5, jnp.ones(3) / 3),
    "dirichlet": lambda k: random.dirichlet(k, jnp.ones(3)),
    "t": lambda k: random.t(k, 3.0),
    "f": lambda k: random.f(k, 3.0, 4.0),
    "ball": lambda k: random.ball(k, 3),
    "orthogonal": lambda k: random.orthogonal(k, 3),
    "multivariate_normal": lambda k: random.multivariate_normal(k, jnp.zeros(2), jnp.eye(2)),
    "wald": lambda k: random.wald(k, 1.0),
    "maxwell": lambda k: random.maxwell(k),
    "generalized_normal": lambda k: random.generalized_normal(k, 2.0),
    "double_sided_maxwell": lambda k: random.double_sided_maxwell(k, 0.0, 1.0),
    "triangular": lambda k: random.triangular(k, 0.0, 0.5, 1.0),
    "truncated_normal": lambda k: random.truncated_normal(k, -1.0, 1.0),
}


@pytest.mark.parametrize("name", DRAWS)
def test_each_draw_uses_a_key_up(name):
    with irax.debug_key_reuse():
        key = random.key(0)
        random.fold_in(key, 1)
        DRAWS[name](key)
        DRAWS[name](random.clone(key))
        with pytest.raises(irax.errors.KeyReuseError, match=r"test_options.*was used before"):
            random.split(key)


def test_options_are_part_of_what_is_kept():
    draw = irax.jit(lambda key: random.bits(key, (2,)))
    first = np.asarray(draw(LEGACY))
    with irax.threefry_partitionable(False):
        second = np.asarray(draw(LEGACY))
    assert (first != second).any()
    np.testing.assert_array_equal(draw(LEGACY), first)


OUT_OF_RANGE = {
    "element": ((2,), 4),
    "from the end": ((2,), -4),
    "after slices": ((2, 3), np.index_exp[..., -4]),
    "beside an array": ((2, 3, 5), np.index_exp[:, np.arange(2), 6]),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_static_indices_are_checked(name):
    shape, index = OUT_OF_RANGE[name]
    x = jnp.ones(shape)
    reads = [lambda x: x[index], irax.jit(lambda x: x[index]), lambda x: x.at[index].get()]
    for read in reads:
        assert (read(x) == 1).all()
    with irax.config.scoped("check_static_indices", True):
        for read in reads:
            with pytest.raises(IndexError, match=r"is out of range for a dimension of size"):
                read(x)
        assert (x.at[index].get(mode="clip") == 1).all()
        assert (x.at[index].set(0.0) == 1).all()


def test_an_offset_is_added_to_seeds():
    seeded = irax.jit(random.PRNGKey)
    before = np.asarray(seeded(np.int32(17)))
    expected = random.PRNGKey(20)
    with irax.config.scoped("random_seed_offset", 3):
        np.testing.assert_array_equal(random.PRNGKey(17), expected)
        np.testing.assert_array_equal(seeded(np.int32(17)), expected)
        np.testing.assert_array_equal(random.PRNGKey(jnp.array(17)), expected)
    np.testing.assert_array_equal(seeded(np.int32(17)), before)
    with pytest.raises(TypeError, match="random_seed_offset must be an integer"):
        irax.config.update("random_seed_offset", 0.5)


@pytest.mark.slow
def test_leaks():
    kept = []

    def leaks(x):
        kept.append(x + 1)
        return x

    with irax.checking_leaks():
        irax.grad(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))(1.0)
        irax.jit(irax.vmap(lambda x: lax.scan(lambda c, y: (c + y, c), x, x[None])[0])).trace(
            jnp.ones(3)
        )
        for returned in (irax.vjp, irax.linearize):  # functions hold what their traces end with
            irax.jit(lambda x, of=returned: of(lambda y: jnp.sin(x * y), x)).trace(1.0)
        with pytest.raises(irax.errors.UnexpectedTracerError, match=r"1 traced array.*outlived"):
            irax.jit(leaks).trace(1.0)


def test_what_is_logged(caplog):
    f = irax.jit(lambda x: x + 1)
    with irax.explain_cache_misses(), irax.log_compiles(), caplog.at_level(logging.WARNING, "irax"):
        f(1)
        f(2)
        f(1.5)
        f(jnp.ones(3))
    told = [record.getMessage() for record in caplog.records]
    assert sum("first time" in text for text in told) == 1
    assert sum("x is float32[] (weak), before int32[] (weak)" in text for text in told) == 1
    assert sum("x is float32[3], before float32[] (weak)" in text for text in told) == 1
    assert sum("compiled lambda in" in text for text in told) == 3
    with irax.no_tracing():
        assert f(2) == 3
        with pytest.raises(RuntimeError, match="no_tracing"):
            f(jnp.ones(4))
    irax.clear_caches()
    with irax.no_tracing(), pytest.raises(RuntimeError, match="no_tracing"):
        f(2)


def test_64_bit_dtypes_that_are_asked_for():
    with pytest.warns(UserWarning, match="so it becomes float32"):
        assert jnp.zeros(2, "float64").dtype == "float32"
    with irax.explicit_x64_dtypes("error"):
        with pytest.raises(ValueError, match=r"zeros: the dtype float64 .* ask for float32"):
            jnp.zeros(2, "float64")
        assert jnp.zeros(2, float).dtype == "float32"
    with pytest.raises(ValueError, match="explicit_x64_dtypes"):
        irax.explicit_x64_dtypes("never")


def test_arrays_of_64_bits_beside_others():
    with irax.explicit_x64_dtypes("allow"):
        x, n = jnp.array([1.0, 2.0], dtype="float64"), jnp.asarray([2**40, 3], "int64")
        for wide in (
            *(x + 1, x * 1.5, x + jnp.ones(2), x + np.ones(2), jnp.sin(x), x.sum(), x.mean()),
            *(jnp.where(x > 1, x, 0), x @ x, jnp.arange(2, dtype="float64"), jnp.stack([x, x])),
            *(jnp.linalg.solve(jnp.eye(2, dtype="float64"), x), irax.nn.softmax(x), jnp.float64(1)),
            *(
                irax.jit(jnp.sin)(x),
                irax.grad(lambda x: jnp.sin(x).sum())(x),
                irax.vmap(jnp.sin)(x),
            ),
            *(lax.scan(lambda c, x: (c + x, x), x[0], x)[0], irax.vjp(jnp.sin, x)[1](x)[0]),
            *(irax.eval_shape(jnp.cos, irax.ShapeDtypeStruct((2,), "float64")), lax.full((), x[0])),
        ):
            assert (wide.dtype, wide.weak_type) == (np.float64, False)
        np.testing.assert_array_equal(irax.jit(lambda n: n + 1)(n), [2**40 + 1, 4])
        np.testing.assert_allclose(jnp.sin(x), np.sin([1.0, 2.0]), rtol=1e-15)
        assert jnp.cumsum(n).dtype == np.int64
        assert (jnp.fft.fft(x).dtype, (x + 1j).dtype) == (np.complex128,) * 2
        for narrow in (
            *(jnp.zeros(2), jnp.asarray(np.ones(2)), jnp.ones(2) + np.float64(1), n * 1.5),
            *(jnp.sin(np.ones(2)), irax.jit(jnp.sin)(np.ones(2)), jnp.ones(2, float)),
        ):
            assert narrow.dtype == np.float32
        assert jnp.uint32(1) + jnp.int32(1) == jnp.int32(2)
        assert jnp.promote_types("int64", "float64") == jnp.result_type(x, 1) == np.float64


def test_no_execution():
    f = irax.jit(lambda x: x + 1)
    for _ in range(2):
        with irax.no_execution(), pytest.raises(RuntimeError, match="no_execution"):
            f(2)
        assert f(2) == 3
    with irax.no_execution():
        assert irax.eval_shape(f, 2).shape == ()
    with irax.enable_checks():
        assert irax.config.enable_checks


def test_debug_log(caplog):
    with caplog.at_level(logging.INFO, "irax.debug"):
        irax.debug.log("x = {x}", x=jnp.float32(1.5))
    assert caplog.messages == ["x = 1.5"]


def test_at_compile_time():
    def f(x):
        with irax.ensure_compile_time_eval():
            n = int(jnp.arange(4).sum())
        return x * n

    assert irax.grad(f)(1.0) == 6

    def traced(x):
        with irax.ensure_compile_time_eval():
            return irax.jit(lambda y: 2 * y)(x) + 1

    assert irax.eval_shape(traced, 1.0).shape == ()
    assert irax.grad(traced)(1.0) == 2
    np.testing.assert_array_equal(irax.vmap(traced)(jnp.arange(2.0)), [1, 3])


def test_named_scopes_around_compiled_functions():
    with irax.named_scope("outer"):
        assert irax.jit(lambda x: x + 1)(1.0) == 2


def test_named_scopes_are_in_locations():
    def f(x):
        with irax.named_scope("outer"), irax.named_scope("inner"):
            y = jnp.sin(x)
        return irax.named_call(jnp.cos, name="call")(y)

    text = irax.make_ir(f)(1.0).as_text(locations=True)
    assert '"outer/inner"' in text
    assert '"call"' in text
    with pytest.raises(TypeError, match="string"), irax.named_scope(1):
        pass


def test_forward_and_backward_apart():
    def f(x, y):
        return (x * jnp.sin(y)).sum(), {"y": y}

    x, y = jnp.arange(3.0), jnp.ones(3)
    fwd, bwd = irax.fwd_and_bwd(f, argnums=1, has_aux=True, jitted=False)
    result, residuals, aux = fwd(x, y)
    np.testing.assert_allclose(bwd(residuals, 2.0), 2 * np.arange(3) * np.cos(1), rtol=1e-6)
    np.testing.assert_allclose(result, np.sin(1) * 3, rtol=1e-6)
    assert aux["y"].shape == (3,)


def test_of_the_system(capsys):
    x = jnp.ones(5)
    assert any(y is x for y in irax.live_arrays())
    irax.print_environment_info()
    assert "numpy: " in capsys.readouterr().out
    assert (irax.process_count(), irax.process_index(), irax.process_indices()) == (1, 0, [0])
    assert irax.typeof(1.5) == irax.typeof(jnp.asarray(2.5))
    assert isinstance(irax.devices()[0].id, int)
    assert irax.copy_to_host_async({"x": x})["x"] is x

    class Other:
        asked = False

        def copy_to_host_async(self):
            self.asked = True

    assert irax.copy_to_host_async([other := Other(), 1.0])[0].asked
    assert other.asked
    irax.ad_checkpoint.print_saved_residuals(lambda x: jnp.sin(x).sum(), x)
    assert capsys.readouterr().out == "float32[5]\n"


def test_trees_one_level_at_a_time():
    tree_util = irax.tree_util
    children, static = tree_util.flatten_one_level({"b": [1], "a": 2})
    assert children == (2, [1])
    assert static == ("a", "b")
    keyed, _ = tree_util.flatten_one_level_with_keys({"b": [1], "a": 2})
    assert keyed[1] == (tree_util.DictKey("b"), [1])
    with pytest.raises(ValueError, match="leaf"):
        tree_util.flatten_one_level(3)
    assert tree_util.is_tree_node(type(None))
    assert not tree_util.is_tree_node(np.ndarray)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(np.int8(1), int), (True, bool), (jnp.ones(2, "bfloat16"), float), (1j, complex)],
)
def test_scalar_types(x, expected):
    assert irax.dtypes.scalar_type_of(x) is expected
