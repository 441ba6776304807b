"""Writes docs/reports/accuracy.md: errors of functions, beside JAX's, NumPy's and SciPy's.

python -m benchmarks.accuracy --jax PYTHON      the interpreter of an environment with JAX

What is exact is mpmath's. The functions and places are those of tests.frontend.derivative_table.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reports" / "accuracy.md"
PICTURE = ROOT / "docs" / "pictures" / "accuracy.svg"
DTYPES = ("float32", "float64", "bfloat16", "float16")
COLUMNS = {
    "float32": ("irax", "JAX", "NumPy", "SciPy"),
    "float64": ("irax", "JAX", "NumPy", "SciPy"),
    "bfloat16": ("irax", "JAX"),
    "float16": ("irax", "JAX", "NumPy"),
}
_IN_SCIPY = {"sigmoid": "expit", "log_sigmoid": "log_expit", "digamma": "psi"}
"""Names of functions in SciPy, where they are others."""
_ENDLESS_IN_JAX = ("expi", "exp1")
"""Functions that JAX 0.10.2 does not compute in minutes at places of this table."""

HEAD = """# Errors of functions beside JAX's, NumPy's and SciPy's

The largest error of each function in units in the last place, and the mean one in parentheses, at
some 240 places over its whole range, of both signs and of all sizes, many near 1, 0 and the ends of
the domain. mpmath has the exact values, with hundreds of digits. Errors are not divided by a
condition: near a zero other than 0, and where a function grows fast, they are larger.
JAX's functions are compiled; for irax it is the larger error of what is computed outside of `jit`
and compiled for the CPU.
`python -m benchmarks.accuracy --jax PYTHON` measures and writes this page.

- No error is counted below 4096 times the smallest normal number: compiled programs take subnormal
  numbers as 0.
- `wrong` stands for infinities and nans where there is a number, and errors above 10,000 units.
- JAX has no numbers for `expi` and `exp1`: 0.10.2 did not come to an end at places of this table.
- Derivatives are in [the other table](derivative-accuracy.md).

![Largest errors in float32](../pictures/accuracy.svg)

"""


def measured_by(
    subjects: Sequence[Any],
    places: Mapping[str, Sequence[float]],
    run: Callable[[Any, Any], Sequence[Any]],
) -> dict[str, list[list[float]]]:
    """Return, by function and dtype, what runs of a function give at its places."""
    found: dict[str, list[list[float]]] = {}
    for subject in subjects:
        for dtype in DTYPES:
            key = f"{subject.name} {dtype}"
            try:
                results = run(subject.function, np.asarray(places[key], np.dtype(dtype)))
                found[key] = [np.asarray(x).astype(np.float64).tolist() for x in results]
            except Exception as error:  # it lacks the function, or the dtype
                print(f"{key}: {type(error).__name__}", file=sys.stderr)
    return found


def _in_jax(folder: Path) -> None:
    """Measure JAX: the table's functions are those of its modules then."""
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def absent(module: Any) -> Any:
        """A module whose missing functions are None."""
        return SimpleNamespace(**{name: getattr(module, name) for name in dir(module)})

    class Partial(SimpleNamespace):
        def __getattr__(self, name: str) -> None:
            return None

    special = Partial(**vars(absent(jax.scipy.special)))
    modules = {"numpy": jax.numpy, "lax": jax.lax, "nn": jax.nn}
    parts: dict[str, Any] = {k: Partial(**vars(absent(m))) for k, m in modules.items()}
    parts["scipy"] = Partial(special=special)
    stand_in: Any = Partial(**parts)
    sys.modules["irax"] = stand_in
    sys.modules["irax.scipy.special"] = special  # pyright: ignore[reportArgumentType]
    sys.modules.update({f"irax.{name}": part for name, part in parts.items()})
    from tests.frontend.derivative_functions import SUBJECTS

    def run(function: Any, x: Any) -> Sequence[Any]:
        given = jax.numpy.asarray(x)
        return [jax.jit(function)(given)]

    places = json.loads((folder / "places.json").read_text())
    subjects = [s for s in SUBJECTS if s.name not in _ENDLESS_IN_JAX]
    (folder / "found.json").write_text(json.dumps(measured_by(subjects, places, run)))


def _of_numpy(names: Mapping[int, str], modules: Sequence[Any]) -> Callable[[Any, Any], Any]:
    """Return what runs the functions of the same names in some modules."""

    def run(function: Any, x: Any) -> Sequence[Any]:
        name = names[id(function)]
        own = next(f for m in modules if (f := getattr(m, _IN_SCIPY.get(name, name), None)))
        with np.errstate(all="ignore"):
            result = own(x)
        if result.dtype != x.dtype:
            raise TypeError(f"{name} of {x.dtype} is of {result.dtype}")
        return [result]

    return run


def main() -> None:
    """Measure, and write the page and its picture."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jax", required=True, help="Python of an environment with JAX")
    parser.add_argument("--in-jax", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_jax:
        return _in_jax(given.in_jax)
    import scipy.special
    from tests.frontend.derivative_functions import SUBJECTS
    from tests.frontend.derivative_table import exact_value, places

    import irax

    where: dict[str, list[float]] = {}
    for subject in SUBJECTS:
        for dtype in DTYPES:
            own = np.dtype(dtype)
            x = places(subject, own if own.itemsize > 2 else np.dtype(np.float32))
            with np.errstate(over="ignore"):
                x = x.astype(own)
            wide = np.unique(x[np.isfinite(x)].astype(np.float64))
            least = float(ml_dtypes.finfo(own).tiny)
            inside = (wide > subject.low) & (wide < subject.high) & (np.abs(wide) >= least)
            where[f"{subject.name} {dtype}"] = wide[inside].tolist()

    def run(function: Any, x: Any) -> Sequence[Any]:
        with irax.enable_x64():
            return [function(irax.numpy.asarray(x)), irax.jit(function)(irax.numpy.asarray(x))]

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "places.json").write_text(json.dumps(where))
        command = [given.jax, "-m", "benchmarks.accuracy", "--jax", given.jax, "--in-jax", folder]
        in_jax = subprocess.Popen(command, cwd=ROOT)
        found = {"irax": measured_by(SUBJECTS, where, run)}
        names = {id(s.function): s.name for s in SUBJECTS}
        found["NumPy"] = measured_by(SUBJECTS, where, _of_numpy(names, [np]))
        found["SciPy"] = measured_by(SUBJECTS, where, _of_numpy(names, [scipy.special]))
        exact = {
            f"{subject.name} {dtype}": [
                exact_value(subject, x, dtype == "float64")
                for x in where[f"{subject.name} {dtype}"]
            ]
            for subject in SUBJECTS
            for dtype in DTYPES
        }
        if in_jax.wait():
            raise SystemExit("the measurement of JAX failed")
        found["JAX"] = json.loads((Path(folder) / "found.json").read_text())

    errors: dict[tuple[str, str, str], tuple[float, float]] = {}
    for subject in SUBJECTS:
        for dtype in DTYPES:
            key = f"{subject.name} {dtype}"
            for library, results in found.items():
                if key in results:
                    errors[subject.name, dtype, library] = errors_of(
                        results[key], exact[key], dtype
                    )
        print(subject.name, errors.get((subject.name, "float32", "irax")), flush=True)
    listed = [s.name for s in SUBJECTS]
    PAGE.write_text(page(listed, errors))
    PICTURE.write_text(picture(listed, errors))


def errors_of(
    runs: Sequence[Sequence[float]], exact: Sequence[Any], dtype: str
) -> tuple[float, float]:
    """Return the largest and the mean error of the worst run."""
    import mpmath as mp
    from tests.frontend.derivative_table import error

    info = ml_dtypes.finfo(dtype)
    found = []
    with mp.workdps(50):
        for results in runs:
            each = [error(v, mp.re(e), 1, info) for v, e in zip(results, exact, strict=True)]
            found.append((max(each), sum(each) / len(each)))
    return max(found)


Errors = Mapping[tuple[str, str, str], tuple[float, float]]
"""The largest and the mean error by function, dtype and library."""


def page(names: Sequence[str], errors: Errors) -> str:
    """Return the contents of the page."""
    return f"{HEAD}{_summary(names, errors)}\n\n{_tables(names, errors)}"


def _summary(names: Sequence[str], errors: Errors) -> str:
    """Return how many functions are within some units, and in which JAX is better by more than half
    a unit.
    """
    lines = []
    for dtype in DTYPES:
        own = {n: errors[n, dtype, "irax"][0] for n in names if (n, dtype, "irax") in errors}
        within = [sum(e <= limit for e in own.values()) for limit in (2, 4)]
        told = f"- {dtype}: of {len(own)} functions {within[0]} are within 2 units, "
        told += f"{within[1]} within 4"
        theirs = {n: errors.get((n, dtype, "JAX"), (math.inf, 0))[0] for n in own}
        better = [f"`{n}`" for n, e in own.items() if e > theirs[n] + 0.5]
        worse = sum(theirs[n] > e + 0.5 for n, e in own.items() if (n, dtype, "JAX") in errors)
        told += f"; JAX's error is larger by more than half a unit in {worse}"
        lines.append(f"{told}, smaller in {len(better)}{': ' if better else ''}{', '.join(better)}")
    return "\n".join(lines)


def _text(found: tuple[float, float] | None) -> str:
    if found is None:
        return ""
    return f"{found[0]:.2g} ({found[1]:.2g})" if found[0] <= 1e4 else "wrong"


def _tables(names: Sequence[str], errors: Errors) -> str:
    parts = []
    for dtype, columns in COLUMNS.items():
        rows = [
            f"## {dtype}\n",
            f"| function | {' | '.join(columns)} |",
            "|---" * (len(columns) + 1) + "|",
        ]
        for name in names:
            cells = [_text(errors.get((name, dtype, library))) for library in columns]
            rows.append(f"| `{name}` | {' | '.join(cells)} |")
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


_COLORS = {"irax": "#0f766e", "JAX": "#b45309", "NumPy": "#64748b", "SciPy": "#7c3aed"}


def picture(names: Sequence[str], errors: Errors) -> str:
    """Return a picture of the largest errors in float32, on a logarithmic scale up to 1000."""
    left, width, row, low, high = 110, 560, 15, 0.1, 1000.0

    def at(value: float) -> float:
        share = math.log(min(max(value, low), high) / low) / math.log(high / low)
        return left + width * share

    bottom = 40 + row * len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 30}" '
        f'height="{bottom + 24}" font-family="system-ui,sans-serif" font-size="11">',
        f'<rect width="{left + width + 30}" height="{bottom + 24}" fill="#ffffff"/>',
    ]
    for i, (library, color) in enumerate(_COLORS.items()):
        parts.append(f'<circle cx="{left + 90 * i}" cy="14" r="4" fill="{color}"/>')
        parts.append(f'<text x="{left + 90 * i + 9}" y="18">{library}</text>')
    for value in (0.1, 0.5, 1, 2, 4, 10, 100, 1000):
        x = at(value)
        told = f"{value:g}" if value < high else "1000 or wrong"
        parts.append(f'<path d="M{x:.1f} 30V{bottom}" stroke="#e2e8f0"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{told}</text>')
    for i, name in enumerate(names):
        y = 40 + row * i
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        for library in reversed(_COLORS):
            found = errors.get((name, "float32", library))
            if found is not None:
                radius = 4 if library == "irax" else 3
                parts.append(
                    f'<circle cx="{at(found[0]):.1f}" cy="{y}" r="{radius}" '
                    f'fill="{_COLORS[library]}" fill-opacity="0.8"/>'
                )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    main()
