"""Functions that are replayed outside of traces: their results, and which calls are alike."""

import inspect
import pickle
import pkgutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.frontend import lax_cases, nn_cases, numpy_cases  # noqa: F401  (fill the table)
from tests.frontend.case_checks import bound
from tests.frontend.numpy_operands import CASES
from tests.sampling import ALL_FORMS

import irax
import irax.numpy as jnp
from irax.execution import replay
from irax.execution.replay import replayed


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """The second call is traced, and the third replayed."""
    monkeypatch.setattr(replay, "_ENOUGH", 0.0)


X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)


def test_the_third_call_is_the_first():
    calls = []

    @replayed
    def f(x, y=1.0, *, axis=0):
        calls.append(axis)
        return {"sum": jnp.sum(x * y, axis=axis), "x": x}

    x = jnp.asarray(X)
    for _ in range(4):
        found = f(x, axis=1)
        np.testing.assert_allclose(found["sum"], X.sum(1), rtol=1e-5)
    assert len(calls) == 2  # at once, and traced; then it is replayed
    np.testing.assert_allclose(f(x, axis=0)["sum"], X.sum(0), rtol=1e-5)
    np.testing.assert_allclose(f(x, -0.0, axis=0)["sum"], 0)
    assert f(x, 2)["sum"].dtype == np.float32
    assert f(x.astype(int), 2)["sum"].dtype == np.int32


def test_weak_types_and_options_count():
    @replayed
    def double(x):
        return x * 2

    for _ in range(3):
        assert double(jnp.asarray(1.5)).weak_type
        assert not double(jnp.float32(1.5)).weak_type
    with irax.enable_x64(True):
        assert double(jnp.float64(1.5)).dtype == np.float64


def test_zeros_keep_their_signs():
    @replayed
    def scaled(x, y):
        return x * y

    for _ in range(3):
        assert not np.signbit(scaled(jnp.float32(2), 0.0))
        assert np.signbit(scaled(jnp.float32(2), -0.0))


def test_functions_that_need_elements_are_not_replayed():
    @replayed
    def f(x):
        return x if float(x) > 0 else -x

    for value in (1.0, -1.0, -2.0, 3.0):
        assert f(jnp.float32(value)) == abs(value)


def test_under_transformations():
    for _ in range(3):
        np.testing.assert_allclose(irax.grad(lambda x: jnp.std(x))(X), irax.grad(jnp.std)(X))
        assert irax.vmap(jnp.median)(X).shape == (4,)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: jnp.median(x, 1), lambda x: np.median(x, 1)),
        (lambda x: jnp.quantile(x, 0.3), lambda x: np.quantile(x, 0.3)),
        (lambda x: jnp.cov(x), np.cov),
        (lambda x: jnp.pad(x, ((1, 2), (0, 1))), lambda x: np.pad(x, ((1, 2), (0, 1)))),
        (lambda x: jnp.gradient(x, 2.0)[1], lambda x: np.gradient(x, 2.0)[1]),
        (lambda x: jnp.searchsorted(x[0], x), lambda x: np.searchsorted(x[0], x)),
        (lambda x: jnp.hypot(x, x.T[:4, :1]), lambda x: np.hypot(x, x.T[:4, :1])),
    ],
)
def test_values(ours, theirs):
    for _ in range(3):
        np.testing.assert_allclose(ours(jnp.asarray(X)), theirs(X), rtol=2e-5)


# ---- the functions that users call ---------------------------------------------------------------


def kinds(function):
    """The number of calls that a public function keeps."""
    cells = inspect.getclosurevars(function).nonlocals
    return len(cells["kept"])


def test_public_functions_are_replayed_and_forgotten():
    irax.clear_caches()
    for n in range(3):
        jnp.median(jnp.asarray(X[:, : n + 1]))
    assert kinds(jnp.median) == 3
    irax.clear_caches()
    assert kinds(jnp.median) == 0


def test_what_is_kept_is_bounded(monkeypatch):
    irax.clear_caches()
    monkeypatch.setattr(replay, "_MOST", 8)
    for n in range(30):
        jnp.roll(jnp.asarray(X), n)
    assert kinds(jnp.roll) <= 8


def test_numbers_of_operators_are_not_kept():
    x = jnp.asarray(X)
    irax.clear_caches()
    for n in range(50):
        np.testing.assert_array_equal(x * n, X * np.float32(n))
        np.testing.assert_array_equal(x + n / 8, X + np.float32(n / 8))
    assert replay.how_many() <= 2


def test_an_operand_too_large_for_int32():
    for _ in range(4):
        assert (jnp.arange(2, dtype=jnp.uint32) + 3000000000).dtype == jnp.uint32
        assert (jnp.arange(2.0) * 2**40)[1] == 2.0**40
        with pytest.raises(OverflowError):
            jnp.arange(2) + 2**40


def test_arguments_that_are_results_are_the_same_arrays():
    x = jnp.asarray(X)
    for _ in range(3):
        assert jnp.real(x) is x
        assert jnp.broadcast_arrays(x, x)[0].shape == (4, 5)
        assert jnp.squeeze(x) is not None


def test_arguments_of_all_kinds():
    x, raw = jnp.asarray(X), X
    for _ in range(3):
        np.testing.assert_array_equal(jnp.concatenate([x, raw]), np.concatenate([X, X]))
        np.testing.assert_array_equal(jnp.sum(raw, axis=(0, 1)), X.sum().astype("f4"), strict=False)
        assert jnp.full((2,), np.float32(3), dtype=jnp.int32).tolist() == [3, 3]
        assert jnp.sum(x, dtype=jnp.bfloat16).dtype == jnp.bfloat16
        assert jnp.sum(x, dtype="float16").dtype == jnp.float16
        assert irax.random.split(irax.random.key(1)).shape == (2,)
        assert irax.random.split(irax.random.PRNGKey(1)).shape == (2, 2)


def test_new_elements_are_seen():
    for n in range(5):
        raw = np.full((3,), n, np.float32)
        assert jnp.sum(raw) == 3 * n
        assert irax.random.bits(irax.random.key(n)) == irax.jit(irax.random.bits)(
            irax.random.key(n)
        )


def test_errors_are_the_same_each_time():
    texts = set()
    for _ in range(4):
        with pytest.raises(TypeError) as error:
            jnp.sum("words")
        texts.add(str(error.value))
        with pytest.raises(TypeError) as error:
            jnp.concatenate([jnp.zeros(3), jnp.zeros((2, 2))])
        texts.add(str(error.value))
    assert len(texts) == 2


def test_warnings_are_given_each_time():
    for _ in range(4):
        with pytest.warns(UserWarning, match="float64") as given:
            assert jnp.zeros(2, "float64").dtype == np.float32
        assert len(given) == 1


def test_committed_arrays_stay_where_they_are():
    x = irax.device_put(jnp.asarray(X), irax.devices()[0])
    for _ in range(3):
        assert jnp.median(x).committed
        assert (x + 1.0).committed
        assert not (jnp.asarray(X) + 1.0).committed


def test_nans_are_found_after_a_replay():
    x = jnp.asarray([-1.0, 1.0])
    for _ in range(3):
        assert np.isnan(np.asarray(jnp.log(x))[0])
    with irax.debug_nans(True), pytest.raises(FloatingPointError):
        jnp.log(x)


def test_options_that_change_results_count():
    for _ in range(3):
        assert jnp.zeros(2).dtype == np.float32
        with irax.enable_x64(True):
            assert jnp.zeros(2).dtype == np.float64


def test_from_many_threads():
    x = jnp.asarray(X)
    irax.clear_caches()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: float(jnp.quantile(x, n % 4 / 4)), range(200)))
    np.testing.assert_allclose(found, [np.quantile(X, n % 4 / 4) for n in range(200)], rtol=1e-5)


def test_public_functions_are_pickled_by_name():
    for function in (
        jnp.median,
        jnp.linalg.norm,
        irax.lax.add,
        irax.nn.softmax,
        irax.random.normal,
    ):
        assert pickle.loads(pickle.dumps(function)) is function


# ---- all functions of the tables -----------------------------------------------------------------

EVERY = 1 if ALL_FORMS else 40


def words(result):
    """The types of the arrays in a result, and their bits."""
    arrays = [x for x in irax.tree.leaves(result) if isinstance(x, irax.Array)]
    return [(x.aval, np.asarray(x).tobytes()) for x in arrays if x.dtype.kind != "O"]


@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: f"{case.module}.{case.name}")
def test_replays_give_the_same_bits(case):
    module = pkgutil.resolve_name(f"irax.{case.module}")
    function = getattr(module, case.name, None)
    call, arrays = bound(case, 0)
    given = [jnp.asarray(x) for x in arrays]
    try:
        first = words(call(function, given))
    except (TypeError, ValueError, NotImplementedError):
        pytest.skip("has no such dtypes")
    for _ in range(3):
        assert words(call(function, given)) == first
