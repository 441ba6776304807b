"""Functions that use SciPy where it is installed, in a process that cannot import it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special as special

X = np.linspace(0.1, 0.9, 7)
A = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [4.0, 0.25, 1.0]])
SIGNAL = np.cos(np.arange(300.0) ** 1.5)
LOWER = scipy.linalg.solve_triangular(A, X[:3], lower=True, trans=1)

EXPECTED = {
    "sp.erf(x)": special.erf(X),
    "sp.erfc(x)": special.erfc(X),
    "sp.erfinv(x)": special.erfinv(X),
    "1 / sp.erfinv(-0. * x)": np.full(7, -np.inf),
    "sp.gammaln(x)": special.gammaln(X),
    "sp.gammaln(-jnp.inf)": np.inf,
    "sp.digamma(x)": special.digamma(X),
    "sp.digamma(jnp.float64(-1.))": np.nan,
    "sp.polygamma(2, x)": special.polygamma(2, X),
    "sp.zeta(1.5, x)": special.zeta(1.5, X),
    "sp.i0e(20 * x)": special.i0e(20 * X),
    "sp.i1e(20 * x)": special.i1e(20 * X),
    "sp.gammainc(x, 2 * x)": special.gammainc(X, 2 * X),
    "sp.gammaincc(x, 2 * x)": special.gammaincc(X, 2 * X),
    "sp.betainc(x, 2., x)": special.betainc(X, 2.0, X),
    "sp.ndtri(x)": special.ndtri(X),
    "irax.scipy.linalg.lu_factor(a)[0]": scipy.linalg.lu_factor(A)[0],
    "irax.scipy.linalg.solve_triangular(a, x[:3], lower=True, trans=1)": LOWER,
    "irax.scipy.linalg.solve_triangular(0. * a, x[:3])": np.array([np.nan, np.nan, np.inf]),
    "irax.scipy.linalg.qr(a, pivoting=True)[2]": scipy.linalg.qr(A, pivoting=True)[2],
    "irax.lax.linalg.hessenberg(a)[0]": scipy.linalg.lapack.dgehrd(A)[0],
    "irax.scipy.signal.welch(signal)[1]": scipy.signal.welch(SIGNAL)[1],
    "irax.scipy.signal.welch(signal, window='hamming')[1]": scipy.signal.welch(
        SIGNAL, window="hamming"
    )[1],
    "sp.erf(x.astype('f4')).astype('f8')": special.erf(X.astype("f4")),
    "sp.erf(x.astype('f2')).astype('f8')": special.erf(X.astype("f2")),
}

FAILURES = {
    "irax.scipy.linalg.schur(a)": "Schur's form of a matrix needs SciPy: pip install scipy",
    "irax.scipy.linalg.sqrtm(a)": "Schur's form of a matrix needs SciPy: pip install scipy",
    "irax.experimental.sparse.linalg.spsolve(jnp.ones(2), jnp.arange(2), jnp.arange(3), x[:2])": (
        "spsolve needs SciPy: pip install scipy"
    ),
    "irax.scipy.signal.welch(signal, window='parzen')": (
        "welch: window='parzen' needs SciPy: pip install scipy"
    ),
}

PROGRAM = """
import sys
sys.modules["scipy"] = None  # importing it raises ModuleNotFoundError
import json
import numpy as np
import irax
import irax.experimental.sparse.linalg
import irax.numpy as jnp
irax.config.update("irax_enable_x64", True)
sp = irax.scipy.special
x, a, signal = (jnp.asarray(v) for v in np.load(sys.argv[1]).values())
results, failures = {}, {}
for text in json.loads(sys.argv[2]):
    try:
        results[text] = np.asarray(eval(text))
    except Exception as error:
        failures[text] = f"{type(error).__name__}: {error}"
np.savez(sys.argv[1], *results.values())
print(json.dumps([[*results], failures]))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Results, and messages of errors, by program."""
    path: Path = tmp_path_factory.mktemp("without_scipy") / "arrays.npz"
    np.savez(path, X, A, SIGNAL)
    programs = json.dumps([*EXPECTED, *FAILURES])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, path, programs], capture_output=True, text=True, check=True
    )
    names, failures = json.loads(done.stdout)
    return dict(zip(names, np.load(path).values(), strict=True)), failures


@pytest.mark.parametrize("program", EXPECTED)
def test_without_scipy_results_are_its_own(found, program: str) -> None:
    results, failures = found
    assert program not in failures, failures[program]
    tolerance = {"f4": 2e-6, "f2": 2e-3}.get(program.partition("astype('")[2][:2], 1e-11)
    expected = EXPECTED[program]
    np.testing.assert_allclose(results[program], expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("program", FAILURES)
def test_without_scipy_errors_name_the_cure(found, program: str) -> None:
    assert found[1].get(program) == f"ImportError: {FAILURES[program]}"
