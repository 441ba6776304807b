"""Functions of irax.numpy that a line of the table cannot say: files, text, sizes for traced
arrays, grids, and what they refuse.
"""

import ast
import importlib
import subprocess
import sys
import types
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run, traced

import irax
import irax.numpy as jnp
from irax import errors
from irax.numpy.families import FAMILY_OF, MODULES

# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [[0, 1, -3, 2, 0], [0, 0, 1, -3, 2, 0, 0], [2, 0, 0], [0, 0, 5]])
def test_roots_of_a_traced_polynomial_that_begins_with_zeros(p):
    """They are nan at the end, in the place of those that are not there."""
    expected = np.sort_complex(np.roots(p))
    (found,) = run(lambda x: jnp.roots(x, strip_zeros=False), np.float32(p))
    np.testing.assert_allclose(np.sort_complex(found)[: expected.size], expected, atol=1e-6)
    assert np.isnan(found[expected.size :]).all()


def test_powers_of_two_and_subnormal_numbers():
    x, powers = np.float32([1, 3, 1e-38, 1e-42]), np.int32([-140, -148, 200, 149])
    (result,) = run(jnp.ldexp, x, powers)
    np.testing.assert_array_equal(result, np.ldexp(x, powers))
    small = np.float32([1e-45, -1e-40, 1.2e-38, -3e-38, 2e-31, -2e-32, 0])
    for space in (jnp.spacing, irax.jit(jnp.spacing)):
        np.testing.assert_array_equal(space(small), np.spacing(small))


# ---- sizes for traced arrays ---------------------------------------------------------------------

X = np.array([3, 1, 2, 3, 1, 7], np.int32)
Y = np.array([7, 3, 5], np.int32)


@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize("fill", [None, 9])
def test_sets_of_traced_arrays(size, fill):
    def sized(found, default):
        filled = np.full(size, default if fill is None else fill)
        filled[: found.size] = found[:size]
        return filled

    how = {"size": size, "fill_value": fill}
    for name, default in (("union1d", 1), ("intersect1d", 3), ("setdiff1d", 0), ("setxor1d", 1)):
        function = getattr(jnp, name)
        (result,) = run(lambda x, y, f=function: f(x, y, **how), X, Y)
        np.testing.assert_array_equal(result, sized(getattr(np, name)(X, Y), default), name)
    values, index, inverse, counts = run(lambda x: jnp.unique(x, True, True, True, **how), X)
    expected = np.unique(X, True, True, True)
    np.testing.assert_array_equal(values, sized(expected[0], 1))
    np.testing.assert_array_equal(inverse, expected[2])
    there = min(size, 4)
    np.testing.assert_array_equal(index[:there], expected[1][:there])
    np.testing.assert_array_equal(counts[:there], expected[3][:there])
    assert not counts[there:].any()
    common, first, second = run(
        lambda x, y: jnp.intersect1d(x, y, return_indices=True, **how), X, Y
    )
    there = min(size, 2)
    np.testing.assert_array_equal(X[first[:there]], common[:there])
    np.testing.assert_array_equal(Y[second[:there]], common[:there])


def test_chosen_elements_of_traced_arrays():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    (result,) = run(lambda x: jnp.extract(x > 2, x, size=4, fill_value=-1), x)
    np.testing.assert_array_equal(result, [3, 4, 5, -1])
    (result,) = run(lambda c, x: jnp.compress(c, x, 1, size=2), np.array([0, 0, 1]), x)
    np.testing.assert_array_equal(result, [[2, 0], [5, 0]])
    (result,) = run(lambda x: jnp.bincount(x, length=4), np.array([0, 2, 9, 2]))
    np.testing.assert_array_equal(result, [1, 0, 2, 0])
    for function in (jnp.unique, lambda x: jnp.extract(x > 0, x), jnp.trim_zeros, jnp.roots):
        with pytest.raises(errors.ConcretizationTypeError):
            traced(function, np.ones(3, np.float32))


@pytest.mark.parametrize("method", ["scan", "scan_unrolled", "sort", "compare_all", "default"])
def test_ways_to_search(method):
    rows = np.sort(numbers((17,), "int32"))
    for side in ("left", "right"):
        (result,) = run(
            lambda a, v, side=side: jnp.searchsorted(a, v, side, method=method),
            *(rows, np.arange(-6, 7, dtype=np.int32)),
        )
        np.testing.assert_array_equal(result, np.searchsorted(rows, np.arange(-6, 7), side))
    order = np.array([2, 0, 1])
    assert int(jnp.searchsorted(np.array([2, 3, 1]), 3, sorter=order, method=method)) == 2


# ---- grids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [np.s_[0:3], np.s_[0:4:2, 1:3], np.s_[0:1:5j], np.s_[-1:1:3j, 0:2], np.s_[0.5:2:0.5, 0:2]],
)
def test_grids(key):
    np.testing.assert_allclose(jnp.mgrid[key], np.mgrid[key], rtol=1e-6)
    for ours, theirs in zip(jnp.ogrid[key], np.ogrid[key], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


ROWS = np.arange(3), np.ones((2, 2))


@pytest.mark.parametrize(
    "key",
    [
        np.s_[1, 2:5, ROWS[0]],
        np.s_[0:1:3j],
        np.s_["r", 1, 2],
        np.s_["c", 1, 2],
        np.s_["0,2", ROWS[0], ROWS[0]],
        np.s_["1,2,0", ROWS[0], ROWS[0]],
        np.s_["0,3,1", ROWS[0], ROWS[0]],
        np.s_["-1", ROWS[1], ROWS[1]],
    ],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_joining_in_brackets(key):
    for ours, theirs in ((jnp.r_, np.r_), (jnp.c_, np.c_)):
        try:
            expected = np.asarray(theirs[key])
        except ValueError:
            with pytest.raises((TypeError, ValueError)):
                _ = ours[key]
        else:
            np.testing.assert_allclose(ours[key], expected, rtol=1e-6)


def test_index_expressions():
    assert jnp.s_[1:2] == slice(1, 2)
    assert jnp.index_exp[1:2] == (slice(1, 2),)
    with pytest.raises(ValueError, match="'r', 'c', or up to three ints"):
        _ = jnp.r_["rows", 1]
    with pytest.raises(ValueError, match="an end"):
        _ = jnp.mgrid[2:]


# ---- files, memory, text -------------------------------------------------------------------------


def test_files(tmp_path):
    for dtype in ("float32", "int8", "bool", "complex64", ml_dtypes.bfloat16):
        x = numbers((2, 3), dtype) if np.dtype(dtype).kind != "c" else np.ones(2, dtype)
        jnp.save(tmp_path / "x.npy", jnp.asarray(x))
        back = jnp.load(tmp_path / "x.npy")
        assert isinstance(back, irax.Array)
        assert back.dtype == x.dtype
        np.testing.assert_array_equal(back, x)
    jnp.savez(tmp_path / "x.npz", jnp.arange(2), named=jnp.ones(3))
    with jnp.load(tmp_path / "x.npz") as found:
        assert sorted(found) == ["arr_0", "named"]
        np.testing.assert_array_equal(found["named"], np.ones(3))
    with pytest.raises(TypeError, match="no name for float8_e5m2"):
        jnp.save(tmp_path / "x.npy", jnp.ones(2, jnp.float8_e5m2))
    (tmp_path / "damaged.npy").write_bytes(b"\x93NUMPY\x03\x00\x02\x00\x00\x00\xff\n")
    with pytest.raises(ValueError, match=r"load: .*damaged.npy: 'utf-8' codec"):
        jnp.load(tmp_path / "damaged.npy")


@pytest.mark.parametrize("x", [1e-8, 2**40, 1j / 3, np.float64(0.1), np.arange(3) / 7])
def test_files_of_numbers_of_64_bits(tmp_path, x):
    jnp.save(tmp_path / "x.npy", x)
    jnp.savez(tmp_path / "x.npz", x)
    back, stored = np.load(tmp_path / "x.npy"), np.load(tmp_path / "x.npz")["arr_0"]
    assert back.dtype == stored.dtype == np.asarray(x).dtype
    np.testing.assert_array_equal(back, x)
    np.testing.assert_array_equal(stored, x)


def test_memory():
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(jnp.frombuffer(x.tobytes(), "float32", 2, 4), x[1:3])
    np.testing.assert_array_equal(jnp.fromstring("1 2", sep=" "), [1, 2])
    for name in ("fromfile", "fromiter"):
        with pytest.raises(NotImplementedError, match=f"numpy.{name}"):
            getattr(jnp, name)("x")


def test_printing_options():
    x = jnp.array([1 / 3, 1e-9])
    assert (
        jnp.array_repr(x, precision=2, suppress_small=True) == "Array([0.33, 0.  ], dtype=float32)"
    )
    assert jnp.array_str(x, precision=1) == np.array_str(np.asarray(x), precision=1)
    with jnp.printoptions(precision=2, suppress=True):
        assert str(x) == "[0.33 0.  ]"
        assert jnp.get_printoptions()["precision"] == 2
    before = jnp.get_printoptions()
    jnp.set_printoptions(precision=3)
    assert str(jnp.array([1 / 3])) == "[0.333]"
    jnp.set_printoptions(**before)


# ---- dtypes and devices --------------------------------------------------------------------------


def test_kinds_of_dtypes():
    assert jnp.isdtype("float32", "real floating")
    assert jnp.isdtype(jnp.bfloat16, "real floating")
    assert jnp.isdtype(jnp.int4, ("bool", "signed integer"))
    assert jnp.isdtype("float32", jnp.float32)
    assert not jnp.isdtype(bool, "numeric")
    assert jnp.can_cast(jnp.int8, jnp.bfloat16)
    assert not jnp.can_cast(jnp.float32, jnp.bfloat16)
    with pytest.raises(ValueError, match="'real'"):
        jnp.isdtype("float32", "real")


def test_a_dtype_that_is_asked_for_and_not_there_is_warned_about():
    wide = (
        lambda: jnp.zeros(2, "float64"),
        lambda: jnp.ones(2).astype("float64"),
        lambda: jnp.arange(3, dtype=np.int64),
        lambda: jnp.asarray([1.0], dtype=jnp.float64),
        lambda: jnp.sum(np.ones(2), dtype="float64"),
        lambda: jnp.float64(3),
        lambda: jnp.eye(2, dtype=np.complex128),
        lambda: irax.lax.convert_element_type(1.0, "float64"),
        lambda: irax.lax.iota("int64", 3),
        lambda: irax.random.normal(irax.random.PRNGKey(0), (2,), "float64"),
    )
    for call in wide:
        with pytest.warns(UserWarning, match="64-bit types are off") as found:
            result = call()
        assert result.dtype.itemsize <= 8
        assert {w.filename for w in found} == {__file__}
        with irax.enable_x64(True):
            assert call().dtype.itemsize >= 8
    jnp.zeros(2, float), jnp.zeros(2, int), jnp.asarray(np.zeros(2))  # these ask for no width


def test_devices_as_arguments():
    device = irax.devices()[0]
    for function in (jnp.zeros, jnp.ones, jnp.empty, jnp.arange, jnp.eye):
        assert function(2, device=device).device == device
    assert jnp.asarray([1.0], device=device).shape == (1,)
    with pytest.raises(RuntimeError, match="nowhere"):
        jnp.zeros(2, device="nowhere")
    with pytest.raises(TypeError, match="expected a sharding or a PartitionSpec, got 1"):
        jnp.zeros(2, out_sharding=1)
    with pytest.raises(ValueError, match="without a copy"):
        jnp.asarray(np.ones(2), copy=False)


def test_methods_that_are_functions():
    x = jnp.array([3.0, 1.0, 2.0])
    assert float(x.ptp()) == 2
    assert int(jnp.arange(5).searchsorted(3)) == 3
    np.testing.assert_array_equal(x.argpartition(0)[0], 1)
    np.testing.assert_array_equal(x.compress(np.array([True, False, True])), [3, 2])
    np.testing.assert_array_equal(jnp.array([1, 0]).choose([x[:2], x[1:]]), [1, 1])
    np.testing.assert_array_equal(x.to_device(irax.devices()[0]), x)
    with pytest.raises(NotImplementedError, match="stream"):
        x.to_device(irax.devices()[0], stream=1)


def test_the_namespace_tells_about_itself():
    info = jnp.__array_namespace_info__()
    assert jnp.__array_api_version__ == "2025.12"
    assert irax.devices()[0] in info.devices()
    assert info.default_device() in info.devices()
    assert set(info.dtypes(kind="integral")) == {
        "int8",
        "int16",
        "int32",
        "uint8",
        "uint16",
        "uint32",
    }
    assert info.default_dtypes()["real floating"] == np.float32
    assert info.capabilities()["boolean indexing"]
    assert jnp.ones(2).__array_namespace__() is jnp


# ---- einsum --------------------------------------------------------------------------------------


def test_orders_of_contraction():
    shapes = ((2, 30), (30, 4), (4, 50), (50, 3))
    arrays = [numbers(shape, "float32", -1, 1, seed=i) for i, shape in enumerate(shapes)]
    path, text = jnp.einsum_path("ij,jk,kl,lm->im", *arrays)
    assert sorted(map(len, path)) == [2, 2, 2]
    assert "Complete contraction" in str(text)
    expected = np.einsum("ij,jk,kl,lm->im", *(x.astype(float) for x in arrays))
    for optimize in (
        False,
        True,
        "optimal",
        "greedy",
        path,
        np.einsum_path("ij,jk,kl,lm->im", *arrays)[0],
    ):
        found = jnp.einsum("ij,jk,kl,lm->im", *arrays, optimize=optimize)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jnp.histogram(jnp.ones(3), "auto"), NotImplementedError, "bins='auto'"),
        (lambda: jnp.bincount(jnp.ones(2)), TypeError, "integers"),
        (lambda: jnp.quantile(jnp.ones(3), 0.5, method="other"), ValueError, "'other'"),
        (lambda: jnp.quantile(jnp.ones(3), 0.5, weights=jnp.ones(3)), ValueError, "inverted_cdf"),
        (lambda: jnp.gcd(1.5, 2), ValueError, "gcd"),
        (lambda: jnp.ldexp(1.0, 2.0), ValueError, "x2"),
        (lambda: jnp.choose(jnp.array([5]), [jnp.ones(1)]), ValueError, "from 0 to 0"),
        (lambda: jnp.put(jnp.ones(3), 0, 1.0), ValueError, "inplace=False"),
        (lambda: jnp.place(jnp.ones(3), jnp.ones(3), 1.0), ValueError, "inplace=False"),
        (lambda: jnp.fill_diagonal(jnp.ones((2, 2)), 1), NotImplementedError, "inplace=False"),
        (lambda: jnp.delete(jnp.ones(3), 7), IndexError, "place 7"),
        (lambda: jnp.insert(jnp.ones(3), 4, 1.0), IndexError, "place 4"),
        (lambda: jnp.insert(jnp.ones(3), -4, 1.0), IndexError, "place -4"),
        (lambda: jnp.polyfit(jnp.ones(3), jnp.ones(4), 1), TypeError, "as many values"),
        (lambda: jnp.polyval(1.0, 2.0), ValueError, "scalar"),
        (lambda: jnp.unwrap(1.0), ValueError, "axis -1"),
        (lambda: jnp.gradient(jnp.ones(1)), ValueError, "two samples"),
        (lambda: jnp.gradient(jnp.ones(3), edge_order=2), NotImplementedError, "edge_order"),
        (lambda: jnp.interp(1.0, jnp.ones(2), jnp.ones(3)), ValueError, "one length"),
        (lambda: jnp.sort(jnp.ones(2), kind="heapsort"), TypeError, "'kind'"),
        (lambda: jnp.partition(jnp.ones(2), 5), ValueError, "kth=5"),
        (lambda: jnp.packbits(jnp.ones(2)), TypeError, "packbits"),
        (lambda: jnp.packbits(jnp.arange(2), bitorder="x"), ValueError, "bitorder"),
        (lambda: jnp.unpackbits(jnp.arange(2)), TypeError, "uint8"),
        (lambda: jnp.block([]), ValueError, "empty list"),
        (lambda: jnp.block([1, [2]]), ValueError, "one depth"),
        (lambda: jnp.piecewise(jnp.ones(2), [True], []), ValueError, "1 functions"),
        (lambda: jnp.cov(jnp.ones((2, 2, 2))), ValueError, "two dimensions"),
        (lambda: jnp.ix_(jnp.ones((2, 2))), ValueError, "vectors"),
        (lambda: jnp.isin(1, jnp.ones(2), method="x"), ValueError, "method"),
        (lambda: jnp.cumulative_sum(jnp.ones((2, 2))), ValueError, "axis"),
        (lambda: jnp.nope, AttributeError, "'nope'"),
    ],
)
def test_errors_say_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_is_imported_when_used():
    """The functions of families are there for type checkers, too, and in the families."""
    tree = ast.parse(Path(jnp.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {
        **{name: f"irax.numpy.{family}" for name, family in FAMILY_OF.items()},
        **dict.fromkeys(MODULES, "irax.numpy"),
    }
    for name, family in FAMILY_OF.items():
        there = getattr(importlib.import_module(f"irax.numpy.{family}"), name)
        assert getattr(jnp, name) is there or getattr(jnp, name).__wrapped__ is there
        assert name in dir(jnp)
    assert isinstance(jnp.fft, types.ModuleType)


def test_an_import_loads_what_every_program_needs():
    code = "import sys, irax, irax.numpy; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    families = {f"irax.numpy.{name}" for name in (*set(FAMILY_OF.values()), *MODULES)}
    # The others need these for themselves.
    needed = ("products.labelled", "printing", "vectorization")
    families -= {f"irax.numpy.{name}" for name in needed}
    heavy = {"iree.runtime", "iree.compiler.dialects._hal_ops_gen", "scipy", "opt_einsum"}
    assert loaded & (families | heavy) == set()


def test_vectorize_of_none():
    either = jnp.vectorize(lambda x, y: x if y is None else x + y)
    np.testing.assert_array_equal(either(jnp.arange(3), None), [0, 1, 2])
    with pytest.raises(ValueError, match=r"None is given at positions \[1\]"):
        jnp.vectorize(lambda x, y: x, signature="(k),(k)->(k)")(jnp.arange(3), None)


def test_apply_along_axis_keeps_the_order_of_the_others():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axis in range(3):
        for function in (np.sum, lambda v: v[:2], lambda v: v[:2, None] * v):
            found = jnp.apply_along_axis(lambda v, f=function: f(v), axis, jnp.asarray(x))
            np.testing.assert_array_equal(found, np.apply_along_axis(function, axis, x))


def test_bincount_of_negative_numbers_and_booleans():
    np.testing.assert_array_equal(jnp.bincount(jnp.array([-3, 2, 0])), [2, 0, 1])
    np.testing.assert_array_equal(jnp.bincount(jnp.array([True, False, True])), [1, 2])


def test_setdiff1d_has_the_dtype_of_the_first():
    assert jnp.setdiff1d(np.int8([1, 2, 3]), np.float32([2])).dtype == np.int8


def test_roll_by_a_vector():
    x = np.arange(12).reshape(3, 4)
    by = np.array([1, 2])
    np.testing.assert_array_equal(jnp.roll(x, by, (0, 1)), np.roll(x, by, (0, 1)))


def test_gradients_have_the_dtype_of_samples_and_distances():
    found = jnp.gradient(jnp.array([1, 3, 9]), 2j)
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, np.gradient(np.array([1.0, 3, 9]), 1) / 2j)
    assert jnp.gradient(jnp.ones(3, bool), jnp.bfloat16(2)).dtype == jnp.bfloat16
    assert jnp.gradient(jnp.ones(3, jnp.bfloat16), 2.0).dtype == jnp.bfloat16
