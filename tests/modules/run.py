"""Try the modules in folders: `python -m tests.modules.run FOLDER ...`. Each is run by the
evaluator and compiled, and compared with what its framework computes, mapped, and differentiated by
both modes, which must agree.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import irax

Arrays = Sequence[np.ndarray[Any, Any]]


def values(run: Callable[..., Any], arguments: Arrays, result: Any) -> None:
    found = run(*arguments)
    first = found[0] if isinstance(found, tuple) else found
    _compare(first, result)


def _compare(found: Any, result: Any) -> None:
    rtol = 2e-3 if found.dtype.name != "bfloat16" else 3e-2
    np.testing.assert_allclose(found.astype(result.dtype), result, rtol=rtol, atol=rtol / 20)


def lanes(run: Callable[..., Any], arguments: Arrays, result: Any) -> None:
    mapped = irax.vmap(run)(*(np.stack([x, x]) for x in arguments))
    first = mapped[0] if isinstance(mapped, tuple) else mapped
    _compare(first[1], result)


def derivatives(run: Callable[..., Any], arguments: Arrays, result: Any) -> None:
    """<u, jvp v> = <grad of <u, f>, v>"""
    moving = [i for i, x in enumerate(arguments) if x.dtype.name in ("float32", "float64")]
    if not moving or np.asarray(result).dtype.kind != "f":
        return

    def total(*chosen: Any) -> Any:
        given: list[Any] = list(arguments)
        for i, x in zip(moving, chosen, strict=True):
            given[i] = x
        found = run(*given)
        return irax.numpy.sum((found[0] if isinstance(found, tuple) else found) * weights)

    primals = [arguments[i] for i in moving]
    random = np.random.default_rng(0)
    weights = random.normal(size=np.shape(result)).astype(result.dtype)
    tangents = [random.normal(size=x.shape).astype(x.dtype) for x in primals]
    _, forward = irax.jvp(total, primals, tangents)
    slopes = irax.grad(total, argnums=tuple(range(len(moving))))(*primals)
    products = [np.vdot(g, t) for g, t in zip(slopes, tangents, strict=True)]
    scale = sum(float(np.abs(g * t).sum()) for g, t in zip(slopes, tangents, strict=True))
    np.testing.assert_allclose(sum(products), forward, rtol=1e-3, atol=1e-3 * (scale + 1e-6))


TRIALS = {
    "values": ("reference", values),
    "compiled": ("cpu", values),
    "vmap": ("reference", lanes),
    "derivatives": ("reference", derivatives),
}
"""Trials, and where each runs."""


def as_taken(run: irax.ir.LoadedFunction, arguments: Arrays) -> Arrays:
    """Return arguments in the dtypes that a function takes; files of NumPy lack bfloat16."""
    taken = zip(arguments, run.inputs, strict=True)
    return [x.astype(aval.dtype) if x.dtype.kind == "f" else x for x, aval in taken]


def tried(path: Path) -> dict[str, str]:
    """Return what each trial of a module says: "ok", or an error."""
    with np.load(path.with_suffix(".npz")) as arrays:
        result = arrays["result"]
        arguments = [arrays[f"argument{i}"] for i in range(len(arrays) - 1)]
    found: dict[str, str] = {}
    for name, (device, trial) in TRIALS.items():
        try:
            run = irax.ir.load(path, device=device)
            trial(run, as_taken(run, arguments), result)
            found[name] = "ok"
        except AssertionError:
            found[name] = "wrong"
        except Exception as error:
            found[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:150]}"
    return found


def main(folders: Sequence[str]) -> int:
    wrong = 0
    irax.config.update("jax_enable_x64", True)
    print("| framework | modules | " + " | ".join(TRIALS) + " |")
    print("|---|---|" + "---|" * len(TRIALS))
    notes: list[str] = []
    for folder in map(Path, folders):
        counts: Counter[str] = Counter()
        paths = sorted(folder.glob("*.mlir"))
        for path in paths:
            for name, told in tried(path).items():
                counts[name] += told == "ok"
                wrong += told == "wrong"
                if told != "ok":
                    notes.append(f"{folder.name} {path.stem}: {name}: {told}")
        cells = [(folder / "versions.txt").read_text(), len(paths), *(counts[n] for n in TRIALS)]
        print(f"| {' | '.join(map(str, cells))} |")
    print("\n" + "\n".join(notes))
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
