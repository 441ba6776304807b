"""Products of matrices by BLAS: values, loops, threads, and programs in files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sampling import ALL_FORMS

import irax
import irax.numpy as jnp
from irax_compiler import blas, mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.passes.kernels.blas import calls as passes
from irax_compiler.passes.kernels.blas import convolutions, measured, windows
from irax_compiler.passes.kernels.blas.layouts import Matrices, Product
from irax_runtime import libraries
from irax_runtime.iree.cpu import cpu

pytestmark = pytest.mark.skipif(blas.library() is None, reason=f"{blas.PACKAGE} is not installed")


@pytest.fixture
def always(monkeypatch):
    """BLAS is called for every product."""
    monkeypatch.setattr(passes, "pays", lambda product, dtype: True)


def calls(function: Callable[..., Any], *args: Any, name: str = "product") -> int:
    """Return the number of dispatches of a jitted function that call BLAS."""
    text = irax.jit(function).lower(*args).as_text()
    module = mlir.parse_module(text)
    (main,) = (n for n, f in mlir.functions(module).items() if mlir.is_public(f))
    return str(lower(module, main)).count(f"flow.dispatch @{name}")


LAYOUTS = [
    ("ij,jk->ik", (70, 50), (50, 33)),
    ("ji,jk->ik", (50, 70), (50, 33)),
    ("ij,kj->ik", (70, 50), (33, 50)),
    ("ji,kj->ik", (50, 70), (33, 50)),
    ("ij,jk->ki", (33, 2), (2, 50)),
    ("bij,bjk->bik", (5, 7, 8), (5, 8, 9)),
    ("bthd,bshd->bhts", (2, 9, 4, 8), (2, 11, 4, 8)),
    ("bhts,bshd->bthd", (2, 4, 9, 11), (2, 11, 4, 8)),
    ("aib,bc->aic", (4, 5, 6), (6, 7)),
    ("iaj,jk->iak", (4, 5, 6), (6, 7)),
    ("ajk,bjk->ab", (4, 5, 6), (3, 5, 6)),
    ("aib,bc->aic", (1, 5, 6), (6, 7)),
    ("ija,jk->iak", (4, 6, 5), (6, 7)),  # no layout of BLAS's
    ("ij,j->i", (30, 31), (31,)),
    ("ji,j->i", (31, 30), (31,)),
    ("i,ij->j", (30,), (30, 31)),
    ("i,ji->j", (30,), (31, 30)),
    ("bij,bj->bi", (3, 20, 30), (3, 30)),
]


@pytest.mark.parametrize(
    ("number", "dtype", "tolerance"),
    [
        (0, "float32", 1e-6),
        (1, "float64", 1e-14),
        (2, "complex64", 1e-6),
        (0, "complex128", 1e-14),
        (1, "bfloat16", 2**-8),
        (2, "float16", 2**-11),
    ],
)
@pytest.mark.slow
def test_layouts(always, number, dtype, tolerance):
    """By default a third of the layouts for each dtype."""
    layouts = LAYOUTS if ALL_FORMS else LAYOUTS[number::3]
    with irax.enable_x64(True):
        generator = np.random.default_rng(0)
        arrays = [
            jnp.asarray(generator.standard_normal(shape), dtype)
            + jnp.asarray(1j if dtype.startswith("c") else 0, dtype)
            for _, *shapes in layouts
            for shape in shapes
        ]

        def products(np, arrays):
            pairs = zip(arrays[::2], arrays[1::2], strict=True)
            return [
                np.einsum(sums, x, y) for (sums, *_), (x, y) in zip(layouts, pairs, strict=True)
            ]

        by_blas = lambda arrays: products(jnp, arrays)
        assert calls(by_blas, arrays) == len(layouts)
        results = irax.jit(by_blas)(arrays)
    wide = np.complex128 if dtype.startswith("c") else np.float64
    exact = products(np, [np.asarray(x).astype(wide) for x in arrays])
    for (sums, *_), got, expected in zip(layouts, results, exact, strict=True):
        assert got.dtype == dtype
        error = np.abs(np.asarray(got).astype(wide) - expected)
        assert error.max() <= tolerance * np.abs(expected).max(), sums


@pytest.mark.slow
def test_several_workgroups(always):
    """Shares of rows, columns and batches, the last of them smaller; factors that a program made
    itself lie somewhere in its memory.
    """
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal(s).astype(np.float32) for s in ((333, 777), (777, 501)))
    z = generator.standard_normal((7, 150, 140)).astype(np.float32)

    def f(x, y, z):
        long = (x @ y) @ (2 * (x @ y)).T
        return long, (long @ x).T, jnp.einsum("bij,bkj->bik", z, 2 * z), jnp.tanh(x) @ y[:, 0]

    assert calls(f, x, y, z) == 5
    x_, y_, z_ = (a.astype(np.float64) for a in (x, y, z))
    long = 2 * (x_ @ y_) @ (x_ @ y_).T
    exact = long, (long @ x_).T, np.einsum("bij,bkj->bik", z_, 2 * z_), np.tanh(x_) @ y_[:, 0]
    for got, expected in zip(irax.jit(f)(x, y, z), exact, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


UPDATES = [
    # sums, shapes of the factors; the shares of two workgroups are of rows, columns or a batch
    ("ij,jk->ik", (333, 450), (450, 61)),
    ("ij,jk->ik", (61, 450), (450, 333)),
    ("ji,jk->ik", (50, 333), (50, 301)),
    ("ji,kj->ik", (50, 7), (3, 50)),
    ("ij,jk->ki", (333, 50), (50, 301)),
    ("ij,jk->ki", (301, 50), (50, 333)),
    ("bij,bkj->bik", (5, 70, 80), (5, 90, 80)),
    ("bhts,bshd->bthd", (2, 4, 9, 11), (2, 11, 4, 8)),
]


def _epilogues(np, products, bases, rate):
    """Elementwise operations on products: steps of an optimizer, biases, activations and masks."""
    for i, (p, base) in enumerate(zip(products, bases, strict=True)):
        row, column = base[..., :1, :], base[..., :1]
        yield [
            lambda p=p, base=base: (base - rate * p,),
            lambda p=p, row=row: (np.maximum(p + row, 0), p + row > 0),
            lambda p=p, column=column: (np.tanh(p) * column, p),
            lambda p=p, base=base: (np.where(p > base, p, 0.5 * base), np.int32(base) * (p > 0)),
            lambda p=p: (p - 1, (p * p)[..., ::-1]),
        ][i % 5]()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-14)])
def test_epilogues(always, dtype, tolerance):
    """Elementwise operations on products are part of their dispatches, in any layout."""
    generator = np.random.default_rng(0)
    pairs = [[generator.standard_normal(s).astype(dtype) for s in u[1:]] for u in UPDATES]
    exact = [np.einsum(u[0], *pair) for u, pair in zip(UPDATES, pairs, strict=True)]
    bases = [generator.standard_normal(p.shape).astype(dtype) for p in exact]

    def compute(bases, pairs, rate):
        products = [jnp.einsum(u[0], *pair) for u, pair in zip(UPDATES, pairs, strict=True)]
        return list(_epilogues(jnp, products, bases, rate))

    with irax.enable_x64(True):
        arrays = irax.tree_util.tree_map(jnp.asarray, (bases, pairs, np.asarray(0.1, dtype)))
        text = irax.jit(compute).lower(*arrays).as_text()
        lowered = str(lower(mlir.parse_module(text), "compute"))
        assert lowered.count("flow.dispatch @product") == len(UPDATES)
        names = ("add", "multiply", "subtract", "maximum", "tanh", "select")
        assert not any(f"stablehlo.{x} " in lowered for x in names)
        results = irax.jit(compute)(*arrays)
    for base, kept in zip(bases, arrays[0], strict=True):
        np.testing.assert_array_equal(kept, base)
    for expected, got in zip(_epilogues(np, exact, bases, 0.1), results, strict=True):
        for x, y in zip(expected, got, strict=True):
            assert y.dtype == x.dtype
            np.testing.assert_allclose(y, x, atol=tolerance * max(9, np.abs(x).max() * 3))


@pytest.mark.slow
def test_epilogue_of_several_workgroups(always):
    """Each workgroup finishes its part, and the last part is smaller."""
    x, w = (
        np.random.default_rng(0).standard_normal(s).astype(np.float32)
        for s in ((1001, 9), (9, 1203))
    )
    got, signs = irax.jit(lambda x, w: ((x @ w) * 2 + w[0], x @ w > w[0]))(x, w)
    exact = x.astype(np.float64) @ w
    np.testing.assert_allclose(got, exact * 2 + w[0], atol=1e-4)
    np.testing.assert_array_equal(signs, exact > w[0])


@pytest.mark.slow
def test_updates_of_what_a_program_made(always):
    """A product is added to another, and steps of a loop to a value that the loop carries."""
    generator = np.random.default_rng(0)
    w = generator.standard_normal((64, 48)).astype(np.float32)
    xs = generator.standard_normal((5, 70, 64)).astype(np.float32)

    def f(w, xs):
        def step(w, x):
            return w - 0.01 * (x.T @ (x @ w)), None

        first = xs[0].T @ xs[1]
        return irax.lax.scan(step, w, xs)[0], first, first + xs[2].T @ xs[3]

    steps = w.astype(np.float64)
    for x in xs:
        steps = steps - 0.01 * (x.T @ (x @ steps))
    first = xs[0].T @ xs[1]
    expected = steps, first, first + xs[2].T @ xs[3]
    for got, exact in zip(irax.jit(f)(w, xs), expected, strict=True):
        np.testing.assert_allclose(got, exact, atol=1e-5 * np.abs(exact).max())


@pytest.mark.slow
def test_loops(always):
    """Products in loops; those on fewer elements are still a part of the loop's kernel."""
    w = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32) / 22
    xs = np.random.default_rng(1).standard_normal((4, 64, 512)).astype(np.float32)

    def f(w, xs):
        def step(h, x):
            new = jnp.tanh(h @ w + x)
            return new, new

        return irax.lax.scan(step, jnp.zeros(xs.shape[1:]), xs)[1]

    h, expected = np.zeros((64, 512)), []
    for x in xs:
        h = np.tanh(h @ w + x)
        expected.append(h)
    assert calls(f, w, xs) == 1
    assert calls(f, w[:4, :4], xs[:, :4, :4]) == 0
    np.testing.assert_allclose(irax.jit(f)(w, xs), expected, atol=1e-5)


@pytest.mark.slow
def test_training_step(always):
    """The gradient of a network on IREE, beside the evaluator's, which is NumPy's."""
    generator = np.random.default_rng(0)
    sizes = (40, 64, 48, 10)
    weights = [generator.standard_normal(s).astype(np.float32) / 8 for s in pairwise(sizes)]
    x, y = (generator.standard_normal((32, n)).astype(np.float32) for n in (40, 10))

    def loss(weights, x, y):
        for w in weights[:-1]:
            x = irax.nn.relu(x @ w)
        return jnp.mean((x @ weights[-1] - y) ** 2)

    gradient = irax.grad(loss)
    assert calls(gradient, weights, x, y) == 8
    for got, expected in zip(
        irax.jit(gradient)(weights, x, y), gradient(weights, x, y), strict=True
    ):
        np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.slow
def test_threads(always):
    """Many threads call one program, on both of IREE's drivers."""
    for size in (40, 400):
        product = irax.jit(lambda x, y: x @ y)
        generator = np.random.default_rng(0)
        x = generator.standard_normal((size, size)).astype(np.float32)
        ys = [generator.standard_normal((size, size)).astype(np.float32) for _ in range(64)]
        with ThreadPoolExecutor(16) as pool:
            results = list(pool.map(product, [x] * 64, ys))
        for y, got in zip(ys, results, strict=True):
            np.testing.assert_allclose(got, x @ y, atol=1e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("chip", ["generic", "x86-64-v3"])
def test_chips(always, chip):
    if chip not in targets.find("iree-cpu").chips:  # pyright: ignore
        pytest.skip("a chip of another kind of processor")
    target = f"iree-cpu:{chip}"
    program = cpu().load(targets.compile(lower(mlir.parse_module(PRODUCT), target=target), target))
    x = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    (got,) = program([cpu().put(x)])
    np.testing.assert_allclose(got.numpy(), x @ x, atol=1e-4)


PRODUCT = """
func.func @main(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}
"""

# ---- the library ---------------------------------------------------------------------------------


def test_library_is_left_out(always, monkeypatch):
    module = mlir.parse_module(PRODUCT)
    assert "cblas" in str(lower(module))
    monkeypatch.setenv(blas.VARIABLE, "off")
    assert "cblas" not in str(lower(module))
    monkeypatch.delenv(blas.VARIABLE)
    monkeypatch.setattr(blas, "library", lambda: None)
    assert "cblas" not in str(lower(module))


SERVE = """
import sys
import numpy as np
import irax_runtime
x = np.arange(1600, dtype=np.float32).reshape(40, 40) / 1600
got = irax_runtime.load(sys.argv[1])(x)
np.testing.assert_allclose(got, x @ x, rtol=1e-5)
assert "irax_compiler" not in sys.modules
"""
WITHOUT_LIBRARY = """
from importlib import metadata
def files(package):
    raise metadata.PackageNotFoundError(package)
metadata.files = files
"""


def served(file: Path, program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False
    )


def test_a_file_needs_the_library(always, tmp_path):
    file = tmp_path / "product.irax"
    x = irax.ShapeDtypeStruct((40, 40), np.float32)
    irax.export.export(irax.jit(lambda x: x @ x))(x).save(file)
    done = served(file, SERVE)
    assert done.returncode == 0, done.stderr
    done = served(file, WITHOUT_LIBRARY + SERVE)
    assert done.returncode == 1
    assert "MissingLibrary: the program calls OpenBLAS" in done.stderr
    assert f"pip install {libraries.OPENBLAS}" in done.stderr


def test_a_file_that_needs_another_library():
    with pytest.raises(libraries.MissingLibrary, match=r"'libfoo'; this runtime knows scipy-open"):
        libraries.load("libfoo")


def test_gradients_of_weights_are_by_blas():
    """IREE's code is slow where the left factor is transposed."""
    x, g = (np.zeros((128, n), np.float32) for n in (784, 1024))
    assert calls(lambda x, g: x.T @ g, x, g) == 1


def test_thresholds():
    """The table decides, by the nearest of what was measured."""
    rows = measured._table()["products"]["microseconds"]
    assert set(rows) == {"float32", "float64", "complex64", "complex128", "bfloat16"}
    for dtype, times in rows.items():
        assert len(times) > 20, dtype
        assert all(len(row) == 6 and min(row) > 0 for row in times)
    many, few = (
        windows.Windows(np.dtype(np.float32), x, y, z, (1, 1), (1, 1))
        for x, y, z in [((8, 16, 16, n), (3, 3, n, n), (8, 14, 14, n)) for n in (256, 64)]
    )
    assert measured.pays_as_products(many)
    assert not measured.pays_as_products(few)


CONVOLUTIONS = [
    # array, kernel, strides, padding, dilation of the kernel, layout
    ((2, 9, 7, 5), (3, 2, 5, 6), (1, 1), ((1, 1), (0, 1)), (1, 1), "NHWC"),
    ((3, 8, 8, 4), (3, 3, 4, 5), (2, 3), ((1, 0), (2, 1)), (1, 1), "NHWC"),
    ((1, 9, 9, 3), (2, 3, 3, 4), (1, 2), ((0, 0), (1, 1)), (2, 3), "NHWC"),
    ((2, 7, 7, 4), (1, 1, 4, 6), (2, 2), ((0, 0), (0, 0)), (1, 1), "NHWC"),
    ((2, 6, 8, 7), (3, 3, 6, 9), (1, 1), ((1, 1), (1, 1)), (1, 1), "NCHW"),
]


@pytest.mark.parametrize(
    ("dtype", "cases"),
    [("float32", CONVOLUTIONS), ("float64", CONVOLUTIONS[: None if ALL_FORMS else 2])],
)
@pytest.mark.slow
def test_convolutions(always, monkeypatch, dtype, cases):
    """Values and gradients, beside those of the evaluator, which is NumPy."""
    monkeypatch.setattr(passes, "pays_as_products", lambda windows: True)
    monkeypatch.setattr(convolutions, "TILE", 4096)  # several tiles
    generator = np.random.default_rng(0)

    def convolve(x, y, strides, padding, dilation, layout):
        return irax.lax.conv_general_dilated(
            x, y, strides, padding, None, dilation, dimension_numbers=(layout, "HWIO", layout)
        )

    def values(*arrays):
        pairs = zip(arrays[::2], arrays[1::2], strict=True)
        return [convolve(x, y, *c[2:]) for (x, y), c in zip(pairs, cases, strict=True)]

    def total(*arrays):
        return sum(jnp.sum(jnp.sin(x)) for x in values(*arrays))

    with irax.enable_x64(True):
        arrays = [
            jnp.asarray(generator.standard_normal(shape), dtype) for c in cases for shape in c[:2]
        ]
        gradient = irax.grad(total, tuple(range(len(arrays))))
        results = irax.jit(lambda *a: (values(*a), gradient(*a)))(*arrays)
        expected = values(*arrays), gradient(*arrays)
        assert calls(values, *arrays, name="convolution") == min(len(cases), 4)
    for got, exact in zip([*results[0], *results[1]], [*expected[0], *expected[1]], strict=True):
        np.testing.assert_allclose(got, exact, atol=1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("columns", [(1, 1), (2, 1), (1, 2)])
def test_small_matrices_are_not_worth_a_call_each(columns: tuple[int, int]) -> None:
    """A transposed factor makes no difference to them: OpenBLAS takes 60 ns for each."""
    forms = [Matrices(3 - c, c, (4,), 4 * 8192) for c in (*columns, 1)]
    product = Product(np.dtype(np.float32), (8192,), 2, 2, 2, *forms)
    assert not measured.pays(product, "float32")
