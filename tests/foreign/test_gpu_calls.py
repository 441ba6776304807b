"""Custom calls that JAX writes for GPUs, and tridiagonal systems, against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import irax

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 4)).astype("f")
S = A @ A.swapaxes(1, 2) + 4 * np.eye(4, dtype="f")
M, V, I32 = "tensor<2x4x4xf32>", "tensor<2x4xf32>", "tensor<2xi32>"


def run(body: str, types: str, *arrays: np.ndarray) -> list[np.ndarray]:
    names = {"float32": "f32", "float64": "f64", "int32": "i32", "uint32": "ui32"}
    given = [
        "tensor<" + "".join(f"{n}x" for n in x.shape) + names[x.dtype.name] + ">" for x in arrays
    ]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(given))
    count = len(types.split(", "))
    results = ", ".join(f"%r#{i}" if count > 1 else "%r" for i in range(count))
    left = f"%r:{count}" if count > 1 else "%r"
    operands = ", ".join(f"%a{i}" for i in range(len(arrays)))
    call = body.replace("(x)", f"({operands})")
    text = f"""func.func @main({arguments}) -> ({types}) {{
      {left} = stablehlo.custom_call {call} : ({", ".join(given)}) -> ({types})
      return {results} : {types}
    }}"""
    found = irax.ir.load(text, device="reference")(*arrays)
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("platform", ["cu", "hip"])
def test_factorizations(platform: str) -> None:
    config = "mhlo.backend_config = "
    factors, pivots, info = run(f"@{platform}solver_getrf_ffi(x)", f"{M}, {V[:-4]}i32>, {I32}", A)
    for matrix, found, rows in zip(A, factors, pivots, strict=True):
        known, order = scipy.linalg.lu_factor(matrix)
        np.testing.assert_allclose(found, known, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(rows, order + 1)
    assert not info.any()
    (order,) = run(f"@{platform}_lu_pivots_to_permutation(x)", "tensor<2x4xi32>", pivots - 1)
    for matrix, factor, rows in zip(A, factors, order, strict=True):
        product = (np.tril(factor, -1) + np.eye(4)) @ np.triu(factor)
        np.testing.assert_allclose(product, matrix[rows], rtol=1e-4, atol=1e-5)
    lower, _ = run(f"@{platform}solver_potrf_ffi(x) {{{config}{{lower = true}}}}", f"{M}, {I32}", S)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(S), rtol=1e-4, atol=1e-5)
    _, values, _ = run(
        f"@{platform}solver_syevd_ffi(x) {{{config}{{algorithm = 0 : ui8, lower = false}}}}",
        f"{M}, {V}, {I32}",
        S,
    )
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S), rtol=1e-4)


@pytest.mark.parametrize("call", ["lapack_sgeev_ffi", "cuhybrid_eig_real", "hiphybrid_eig_real"])
def test_left_eigenvectors(call: str) -> None:
    wanted = "compute_left = 86 : ui8, compute_right = 78 : ui8"
    config = wanted if call.startswith("lapack") else "left = true, right = false"
    w = M.replace("f32", "complex<f32>")
    types = f"{V}, {V}, {w}, {w}, {I32}"
    real, imag, left, right, _ = run(f"@{call}(x) {{mhlo.backend_config = {{{config}}}}}", types, A)
    assert not right.any()
    values, rows = real + 1j * imag, left.conj().swapaxes(1, 2)
    np.testing.assert_allclose(rows @ A, values[:, :, None] * rows, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(left, axis=1), 1, rtol=1e-5)
    largest = np.take_along_axis(left, abs(left).argmax(1, keepdims=True), 1)
    np.testing.assert_allclose(np.imag(largest), 0, atol=1e-6)


def test_singular_vectors_are_columns() -> None:
    config = "{mhlo.backend_config = {compute_uv = true, full_matrices = true}}"
    types = f"{M}, {V}, {M}, {M}, {I32}"
    _, s, u, v, _ = run(f"@cusolver_gesvdj_ffi(x) {config}", types, A)
    np.testing.assert_allclose((u * s[:, None]) @ v.swapaxes(1, 2), A, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("is_full", [True, False])
def test_other_singular_values(shape: tuple[int, int], is_full: bool) -> None:
    """`gesvd` returns right vectors as rows, first where it is of a transposed matrix."""
    m, n = shape
    x, k = RNG.normal(size=shape).astype("f"), min(shape)
    options = f"compute_uv = true, full_matrices = {str(is_full).lower()}"
    rows, columns = (m, n) if is_full else (k, k)
    a, line, i32 = f"tensor<{m}x{n}xf32>", f"tensor<{k}xf32>", "tensor<i32>"
    u, vh, v = f"tensor<{m}x{rows}xf32>", f"tensor<{columns}x{n}xf32>", f"tensor<{n}x{columns}xf32>"
    for name, types, more in (
        ("gesvdp", (u, v), ""),
        ("gesvd", (vh, u) if m < n else (u, vh), f", transposed = {str(m < n).lower()}"),
        ("gesdd", (u, vh), ", transposed = false"),
    ):
        config = f"{{mhlo.backend_config = {{{options}{more}}}}}"
        results = ", ".join([a, line, *types, i32])
        _, s, left, right, _ = run(f"@cusolver_{name}_ffi(x) {config}", results, x)
        if types[0] is vh:
            left, right = right, left
        right = right.T if name == "gesvdp" else right
        np.testing.assert_allclose((left[:, :k] * s) @ right[:k], x, rtol=1e-4, atol=1e-5)


def test_eigenvalues() -> None:
    """Columns of `geev` are the parts of conjugate vectors."""
    config = "{mhlo.backend_config = {left = false, right = true}}"
    c, w = M.replace("f32", "complex<f32>"), V.replace("f32", "complex<f32>")
    _, values, _, parts, _ = run(f"@cusolver_geev_ffi(x) {config}", f"{M}, {w}, {M}, {M}, {I32}", A)
    vectors = np.array(parts, "complex64")
    for i, j in np.argwhere(values.imag > 0):
        pair = parts[i, :, j] + 1j * parts[i, :, j + 1]
        vectors[i, :, j], vectors[i, :, j + 1] = pair, pair.conj()
    assert np.any(values.imag > 0)
    np.testing.assert_allclose(A @ vectors, vectors * values[:, None], rtol=1e-3, atol=1e-4)
    real, imaginary, _, vectors, _ = run(
        f"@cuhybrid_eig_real(x) {config}", f"{V}, {V}, {c}, {c}, {I32}", A
    )
    np.testing.assert_allclose(real + 1j * imaginary, values, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(A @ vectors, vectors * values[:, None], rtol=1e-3, atol=1e-4)


def test_products_and_reflections() -> None:
    packed, taus = scipy.linalg.lapack.sgeqrf(A[0])[:2]
    one, v = "tensor<4x4xf32>", "tensor<4xf32>"
    config = "{mhlo.backend_config = {left = true, transpose = true}}"
    (found,) = run(f"@cusolver_ormqr_ffi(x) {config}", one, packed, taus, A[1])
    known = scipy.linalg.lapack.sormqr("L", "T", packed, taus, A[1], 100)[0]
    np.testing.assert_allclose(found, known, rtol=1e-4, atol=1e-5)
    config = "{mhlo.backend_config = {transpose = false}}"
    two, three = np.float32(2), np.float32(3)
    (found,) = run(f"@cusolver_syrk_ffi(x) {config}", one, A[0], A[1], two, three)
    np.testing.assert_allclose(found, 2 * A[0] @ A[0].T + 3 * A[1], rtol=1e-4, atol=1e-5)
    found, middle, beside, *_ = run(
        "@hipsolver_sytrd_ffi(x) {mhlo.backend_config = {lower = true}}",
        f"{one}, {v}, tensor<3xf32>, tensor<3xf32>, tensor<i32>",
        S[0],
    )
    similar = np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1)
    known = np.linalg.eigvalsh(S[0])
    np.testing.assert_allclose(np.linalg.eigvalsh(similar), known, rtol=1e-4)
    packed, order, _ = run(
        '@cuhybrid_geqp3(x) {mhlo.backend_config = {magma = "auto"}}',
        f"{one}, tensor<4xi32>, {v}",
        A[0],
        np.zeros(4, "int32"),
    )
    known = scipy.linalg.qr(A[0], mode="r", pivoting=True)
    np.testing.assert_array_equal(order, known[1] + 1)
    np.testing.assert_allclose(abs(np.triu(packed)), abs(known[0]), rtol=1e-3, atol=1e-4)


def test_words_of_random_bits() -> None:
    """The published answers for Threefry-2x32 with 20 rounds."""
    words = "tensor<3xui32>"
    keys, given, known = (
        np.array(rows, "uint32").T
        for rows in (
            [(0, 0), (0xFFFFFFFF, 0xFFFFFFFF), (0x13198A2E, 0x03707344)],
            [(0, 0), (0xFFFFFFFF, 0xFFFFFFFF), (0x243F6A88, 0x85A308D3)],
            [(0x6B200159, 0x99BA4EFE), (0x1CB996FC, 0xBB002BE7), (0xC4923A9C, 0x483DF7A0)],
        )
    )
    found = run("@cu_threefry2x32_ffi(x)", f"{words}, {words}", *keys, *given)
    np.testing.assert_array_equal(found, known)


def dense(low: np.ndarray, middle: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.diag(middle) + np.diag(low[1:], -1) + np.diag(high[:-1], 1)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_tridiagonal_systems(n: int, scale: float) -> None:
    """Without a diagonal that is large, rows are exchanged."""
    low, middle, high = RNG.normal(size=(3, 2, n))
    middle = middle + scale
    right = RNG.normal(size=(2, n, 3))
    b, v = f"tensor<2x{n}x3xf64>", f"tensor<2x{n}xf64>"
    (found,) = run("@cusparse_gtsv2_ffi(x)", b, low, middle, high, right)
    bands = zip(low, middle, high, strict=True)
    known = np.stack([np.linalg.solve(dense(*x), r) for x, r in zip(bands, right, strict=True)])
    np.testing.assert_allclose(found, known, rtol=1e-8, atol=1e-8)
    *_, again, info = run(
        "@lapack_dgtsv_ffi(x)", f"{v}, {v}, {v}, {b}, {I32}", low, middle, high, right
    )
    np.testing.assert_array_equal(again, found)
    assert not info.any()


def test_the_derivative_of_a_tridiagonal_system() -> None:
    low, middle, high = RNG.normal(size=(3, 5))
    right = RNG.normal(size=(5, 1))
    text = """func.func @main(%l: tensor<5xf64>, %d: tensor<5xf64>, %u: tensor<5xf64>,
        %b: tensor<5x1xf64>) -> tensor<5x1xf64> {
      %r = stablehlo.custom_call @cusparse_gtsv2_ffi(%l, %d, %u, %b)
          : (tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5x1xf64>) -> tensor<5x1xf64>
      return %r : tensor<5x1xf64> }"""
    solve = irax.ir.load(text, device="reference")
    with irax.enable_x64(True):
        slope = irax.grad(lambda d: solve(low, d, high, right).sum())(middle)
    matrix = dense(low, middle, high)
    known = -np.linalg.solve(matrix.T, np.ones(5)) * np.linalg.solve(matrix, right)[:, 0]
    np.testing.assert_allclose(slope, known, rtol=1e-7)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("@cusolver_potrf_ffi(%x) : (tensor<2x2xf64>)", "it has no option 'lower'"),
        ("@cusparse_gtsv2_ffi(%x) : (tensor<2x2xf64>)", "its operands are not those"),
    ],
)
def test_calls_that_lack_something(call: str, reason: str) -> None:
    text = f"""func.func @main(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {{
      %r = stablehlo.custom_call {call} -> tensor<2x2xf64>
      return %r : tensor<2x2xf64> }}"""
    with irax.enable_x64(True), pytest.raises(NotImplementedError, match=reason):
        irax.ir.load(text, device="reference")(np.eye(2))


@pytest.mark.parametrize("extents", [(5, 3), (3, 5), (2, 5, 3)])
def test_first_singular_vectors_have_derivatives(extents: tuple[int, ...]) -> None:
    """JAX for GPUs asks for whole matrices, and takes the columns that it wants."""
    *batch, m, n = extents
    k, rank = min(m, n), len(extents)
    order = [*range(rank - 2), rank - 1, rank - 2]
    x = np.random.default_rng(1).normal(size=extents)

    def tensor(*last: int) -> str:
        return "tensor<" + "".join(f"{n}x" for n in (*batch, *last)) + "f64>"

    def ranges(*last: int) -> str:
        return ", ".join(f"0:{n}" for n in (*batch, *last))

    info = tensor().replace("f64", "i32")
    text = f"""func.func @main(%x: {tensor(m, n)}) -> ({tensor(m, k)}, {tensor(k, n)}) {{
      %r:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%x)
          {{mhlo.backend_config = {{compute_uv = true, full_matrices = true}}}} : ({tensor(m, n)})
          -> ({tensor(m, n)}, {tensor(k)}, {tensor(m, m)}, {tensor(n, n)}, {info})
      %v = stablehlo.transpose %r#3, dims = {order} : ({tensor(n, n)}) -> {tensor(n, n)}
      %1 = stablehlo.slice %r#2 [{ranges(m, k)}] : ({tensor(m, m)}) -> {tensor(m, k)}
      %2 = stablehlo.slice %v [{ranges(k, n)}] : ({tensor(n, n)}) -> {tensor(k, n)}
      return %1, %2 : {tensor(m, k)}, {tensor(k, n)}
    }}"""
    run = irax.ir.load(text, device="reference")

    def product(x: np.ndarray) -> np.ndarray:
        u, vh = run(x)
        return u @ vh

    def known(x: np.ndarray) -> np.ndarray:
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return u @ vh

    direction, step = np.cos(x), 1e-6
    with irax.enable_x64(True):
        found, tangent = irax.jvp(product, [x], [direction])
    np.testing.assert_allclose(found, known(x), atol=1e-9)
    near = known(x + step * direction) - known(x - step * direction)
    np.testing.assert_allclose(tangent, near / (2 * step), atol=1e-7)
