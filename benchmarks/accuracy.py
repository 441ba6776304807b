"""Writes docs/reports/accuracy.md: errors of functions, beside JAX's, NumPy's and SciPy's.

python -m benchmarks.accuracy --jax PYTHON      the interpreter of an environment with JAX

Values and derivatives by irax in its ways, by JAX, NumPy and SciPy.

What is exact is mpmath's. The functions and places are those of
tests.frontend.derivatives.derivative_table.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import multiprocessing
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
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
    "float32": ("irax", "jit", "Vulkan", "XLA", "JAX", "NumPy", "SciPy"),
    "float64": ("irax", "jit", "JAX", "NumPy", "SciPy"),
    "bfloat16": ("irax", "jit", "JAX"),
    "float16": ("irax", "jit", "JAX", "NumPy"),
}
"""By dtype: irax outside of `jit`, compiled for the CPU, for Vulkan, and by XLA; and others."""
_OF_VALUES = ("NumPy", "SciPy")
"""Libraries without derivatives."""
PLATFORMS = {"jit": "cpu", "Vulkan": "vulkan", "XLA": "pjrt:cpu"}
_IN_SCIPY = {"sigmoid": "expit", "log_sigmoid": "log_expit", "digamma": "psi"}
"""Names of functions in SciPy, where they are others."""
_ENDLESS_IN_JAX = ("expi", "exp1")
"""Functions that JAX 0.10.2 does not compute in minutes at places of this table."""

HEAD = """# Errors of functions beside JAX's, NumPy's and SciPy's

The largest error of each function, and of its derivative, in units in the last place, and the mean
one in parentheses, at some 240 places over its whole range, of both signs and of all sizes, many
near 1, 0 and the ends of the domain. mpmath has the exact values, with hundreds of digits. Errors
are not divided by a condition: near a zero other than 0, and where a function grows fast, they are
larger.
`irax` is what is computed outside of `jit`, `jit` is compiled for the CPU, `Vulkan` for Mesa's
device in software, and `XLA` is irax's module compiled by XLA for the CPU. JAX's functions are
compiled.
`python -m benchmarks.accuracy --jax PYTHON` measures and writes this page.

- No error is counted below 4096 times the smallest normal number, below that number itself for
  float16: compiled programs take subnormal numbers as 0.
- `wrong` stands for infinities and nans where there is a number, and errors above 10,000 units.
- A cell is empty where a library has no such function, or Vulkan does not run it (`sinc`).
- JAX has no numbers for `expi` and `exp1`: 0.10.2 did not come to an end at places of this table.
- [The other table](derivative-accuracy.md) has second derivatives, and errors divided by the
  condition.

![Largest errors in float32](../pictures/accuracy.svg)

"""


Run = Callable[[Any, Any], Any]
"""Computes a function of an array."""
Found = dict[str, list[float]]
"""The results at a function's places, by function, dtype, order of the derivative and column."""


def measured_by(
    column: str, subjects: Sequence[Any], places: Mapping[str, Sequence[float]], runs: Sequence[Run]
) -> Found:
    """Return what the runs of a value, and of a derivative if there is one, give at the places."""
    found: Found = {}
    for subject in subjects:
        for dtype in (d for d in DTYPES if column in COLUMNS[d]):
            for order, run in enumerate(runs):
                at = np.asarray(places[f"{subject.name} {dtype}"], np.dtype(dtype))
                try:
                    results = np.asarray(run(subject.function, at)).astype(np.float64)
                    found[_key(subject.name, dtype, order, column)] = results.tolist()
                except Exception as error:  # it lacks the function, or the dtype
                    told = f"{column}, {subject.name} {dtype} {order}: {type(error).__name__}"
                    print(told, file=sys.stderr, flush=True)
    return found


def _key(name: str, dtype: str, order: int, column: str) -> str:
    return f"{name} {dtype} {order} {column}"


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
    from tests.frontend.derivatives.derivative_functions import SUBJECTS

    def value(function: Any, x: Any) -> Any:
        return jax.jit(function)(jax.numpy.asarray(x))

    def slope(function: Any, x: Any) -> Any:
        return jax.jit(jax.grad(lambda x: function(x).sum()))(jax.numpy.asarray(x))

    places = json.loads((folder / "places.json").read_text())
    subjects = [s for s in SUBJECTS if s.name not in _ENDLESS_IN_JAX]
    found = measured_by("JAX", subjects, places, [value, slope])
    (folder / "found.json").write_text(json.dumps(found))


def _of_numpy(names: Mapping[int, str], modules: Sequence[Any]) -> Run:
    """Return what runs the functions of the same names in some modules."""

    def run(function: Any, x: Any) -> Any:
        name = names[id(function)]
        own = next(f for m in modules if (f := getattr(m, _IN_SCIPY.get(name, name), None)))
        with np.errstate(all="ignore"):
            result = own(x)
        if result.dtype != x.dtype:
            raise TypeError(f"{name} of {x.dtype} is of {result.dtype}")
        return result

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
    from tests.frontend.derivatives.derivative_functions import SUBJECTS
    from tests.frontend.derivatives.derivative_table import places

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

    found: Found = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "places.json").write_text(json.dumps(where))
        command = [given.jax, "-m", "benchmarks.accuracy", "--jax", given.jax, "--in-jax", folder]
        in_jax = subprocess.Popen(command, cwd=ROOT)
        pool = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
        computed = {
            (s.name, dtype): pool.submit(_exact_by_name, s.name, where[f"{s.name} {dtype}"], dtype)
            for s in SUBJECTS
            for dtype in DTYPES
        }
        found |= measured_by("irax", SUBJECTS, where, _of_irax())
        for column in PLATFORMS:
            found |= measured_together(column, SUBJECTS, where)
            print(f"{column} is measured", flush=True)
        names = {id(s.function): s.name for s in SUBJECTS}
        found |= measured_by("NumPy", SUBJECTS, where, [_of_numpy(names, [np])])
        found |= measured_by("SciPy", SUBJECTS, where, [_of_numpy(names, [scipy.special])])
        errors: dict[Key, tuple[float, float]] = {}
        exact = {key: future.result() for key, future in computed.items()}
        if in_jax.wait():
            raise SystemExit("the measurement of JAX failed")
        found |= json.loads((Path(folder) / "found.json").read_text())
    for (name, dtype), orders in exact.items():
        for order, values in enumerate(orders):
            for column in COLUMNS[dtype]:
                results = found.get(_key(name, dtype, order, column))
                if results is not None:
                    errors[name, dtype, order, column] = errors_of(results, values, dtype)
    listed = [s.name for s in SUBJECTS]
    PAGE.write_text(page(listed, errors))
    PICTURE.write_text(picture(listed, errors))


def _of_irax(device: Any = None) -> list[Run]:
    """Return the runs of a value and of a derivative by irax, compiled for a device if there is
    one.
    """
    import irax

    def run(function: Any, x: Any) -> Any:
        with irax.enable_x64():
            if device is None:
                return function(irax.numpy.asarray(x))
            return irax.jit(function)(irax.device_put(x, device))

    return [run, lambda function, x: run(_slope(function), x)]


def _slope(function: Any) -> Any:
    import irax

    return irax.grad(lambda x: function(x).sum())


def measured_together(
    column: str, subjects: Sequence[Any], places: Mapping[str, Sequence[float]]
) -> Found:
    """Return the same as `measured_by` for one of the platforms, by one program for all functions
    of a dtype, or, where it does not take one of them, by a program for each.
    """
    import irax

    (device,) = irax.devices(PLATFORMS[column])[:1]
    found: Found = {}
    for dtype in (d for d in DTYPES if column in COLUMNS[d]):
        for order in (0, 1):
            functions = [_slope(s.function) if order else s.function for s in subjects]
            at = [np.asarray(places[f"{s.name} {dtype}"], np.dtype(dtype)) for s in subjects]
            keys = [_key(s.name, dtype, order, column) for s in subjects]

            def every(at: Any, functions: Sequence[Any] = functions) -> Any:
                return [f(x) for f, x in zip(functions, at, strict=True)]

            try:
                with irax.enable_x64():
                    results = irax.jit(every)(irax.device_put(at, device))
                for key, x in zip(keys, results, strict=True):
                    found[key] = np.asarray(x).astype(np.float64).tolist()
            except Exception as error:
                print(f"{column} {dtype}: {type(error).__name__}", file=sys.stderr, flush=True)
                each = measured_by(column, subjects, places, _of_irax(device))
                found |= {key: each[key] for key in keys if key in each}
    return found


def exact_at(subject: Any, places: Sequence[float], dtype: str) -> list[list[Any]]:
    """Return a function's values at some places, and its derivatives."""
    import mpmath as mp
    from tests.frontend.derivatives.derivative_table import exact_value, slopes

    def slope(x: Any) -> Any:
        try:
            return slopes(subject, x, dtype == "float64")[0]
        except ZeroDivisionError:  # its formula is 0 / 0 there
            with mp.workdps(60):
                return slope(x * (1 + mp.mpf(2) ** -80))

    values = [exact_value(subject, x, dtype == "float64") for x in places]
    return [values, [slope(x) for x in places]]


def _exact_by_name(name: str, places: Sequence[float], dtype: str) -> list[list[Any]]:
    from tests.frontend.derivatives.derivative_functions import SUBJECTS

    (subject,) = (s for s in SUBJECTS if s.name == name)
    return exact_at(subject, places, dtype)


def errors_of(results: Sequence[float], exact: Sequence[Any], dtype: str) -> tuple[float, float]:
    """Return the largest and the mean error of some results."""
    import mpmath as mp
    from tests.frontend.derivatives.derivative_table import error

    info = ml_dtypes.finfo(dtype)
    with mp.workdps(50):
        each = [error(v, mp.re(e), 1, info) for v, e in zip(results, exact, strict=True)]
    return max(each), sum(each) / len(each)


Key = tuple[str, str, int, str]
"""A function, a dtype, the order of the derivative, and a column."""
Errors = Mapping[Key, tuple[float, float]]
"""The largest and the mean error."""


def page(names: Sequence[str], errors: Errors) -> str:
    """Return the contents of the page."""
    return f"{HEAD}{_summary(names, errors)}\n\n{_tables(names, errors)}"


def _largest(errors: Errors, name: str, dtype: str, order: int = 0) -> float | None:
    """Return the largest error of irax on the CPU, outside of `jit` and in it."""
    found = [errors[k][0] for c in ("irax", "jit") if (k := (name, dtype, order, c)) in errors]
    return max(found, default=None)


def _summary(names: Sequence[str], errors: Errors) -> str:
    """Return how many functions are within some units, and in which JAX is better by more than half
    a unit.
    """
    lines = []
    for order, what in enumerate(("values", "derivatives")):
        for dtype in DTYPES:
            every = {n: _largest(errors, n, dtype, order) for n in names}
            own = {n: e for n, e in every.items() if e is not None}
            if not own:
                continue
            within = [sum(e <= limit for e in own.values()) for limit in (2, 4)]
            told = f"- {what} in {dtype}: of {len(own)} functions {within[0]} are within 2 units, "
            told += f"{within[1]} within 4"
            theirs = {n: errors.get((n, dtype, order, "JAX"), (math.inf, 0))[0] for n in own}
            better = [f"`{n}`" for n, e in own.items() if e > theirs[n] + 0.5]
            worse = sum(e + 0.5 < theirs[n] < math.inf for n, e in own.items())
            worse += sum((n, dtype, order, "JAX") in errors and math.isinf(theirs[n]) for n in own)
            told += f"; JAX's error is larger by more than half a unit in {worse}"
            told += f", smaller in {len(better)}{': ' if better else ''}{', '.join(better)}"
            lines.append(told)
    return "\n".join(lines)


def _text(found: tuple[float, float] | None) -> str:
    if found is None:
        return ""
    return f"{found[0]:.2g} ({found[1]:.2g})" if found[0] <= 1e4 else "wrong"


def _tables(names: Sequence[str], errors: Errors) -> str:
    parts = []
    for order in (0, 1):
        for dtype in DTYPES:
            columns = [c for c in COLUMNS[dtype] if not (order and c in _OF_VALUES)]
            rows = [
                f"## Derivatives in {dtype}\n" if order else f"## {dtype}\n",
                f"| function | {' | '.join(columns)} |",
                "|---" * (len(columns) + 1) + "|",
            ]
            for name in names:
                cells = [_text(errors.get((name, dtype, order, column))) for column in columns]
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
            if library == "irax":
                largest = _largest(errors, name, "float32")
            else:
                largest = errors.get((name, "float32", 0, library), (None,))[0]
            if largest is not None:
                radius = 4 if library == "irax" else 3
                parts.append(
                    f'<circle cx="{at(largest):.1f}" cy="{y}" r="{radius}" '
                    f'fill="{_COLORS[library]}" fill-opacity="0.8"/>'
                )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    main()
