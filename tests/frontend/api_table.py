"""Writes docs/api.md: the public names of JAX, and which of them irax has.

python -m tests.frontend.api_table             of the names that were recorded
python -m tests.frontend.api_table --record    after recording those of the JAX installed here
"""

import importlib
import json
import pkgutil
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

import irax
from irax.core import absent_names

PATH = Path(__file__).parents[2] / "docs" / "api.md"
RECORD = Path(__file__).parent / "jax_names.json"

MODULES = (
    *("jax", "jax.numpy", "jax.numpy.fft", "jax.numpy.linalg", "jax.lax", "jax.lax.linalg"),
    *("jax.nn", "jax.nn.initializers", "jax.random", "jax.image", "jax.ops", "jax.tree"),
    *("jax.tree_util", "jax.flatten_util", "jax.dtypes", "jax.errors", "jax.debug"),
    *(
        "jax.ad_checkpoint",
        "jax.export",
        "jax.experimental.ode",
        "jax.scipy.special",
        "jax.scipy.linalg",
    ),
    *("jax.scipy.stats", "jax.scipy.signal", "jax.scipy.fft", "jax.scipy.ndimage"),
    *("jax.scipy.optimize", "jax.scipy.interpolate", "jax.scipy.integrate"),
    *("jax.custom_batching", "jax.custom_derivatives", "jax.dlpack", "jax.ffi", "jax.profiler"),
    *(
        "jax.stages",
        "jax.test_util",
        "jax.scipy.cluster.vq",
        "jax.scipy.spatial.transform",
        "jax.scipy.sparse.linalg",
    ),
    *("jax.core", "jax.sharding", "jax.typing", "jax.distributed", "jax.experimental"),
    *("jax.experimental.checkify", "jax.experimental.layout", "jax.experimental.mesh_utils"),
    "jax.extend",
    *("jax.extend.core", "jax.extend.backend", "jax.extend.source_info_util"),
)

PACKAGES = ("jax", "jax.experimental", "jax.extend")
"""The modules whose submodules are names, too: they are for users to import."""

HEAD = """# Names

JAX's public names ({version}), module by module, and which of them irax has, made by `make docs`; a
test fails when it is not up to date. `jax.` becomes `irax.`: `jax.numpy.sin` is `irax.numpy.sin`.

Functions that stand in a table here have their cases in one of the tests' tables
(tests/frontend/*_cases.py), which say so: their *values* are those of NumPy or SciPy, or of a
formula; *jit* gives the same; the *gradient*, forward and reverse, is that of finite differences. A
dash: the shape of the result depends on values, or there is no derivative for finite differences
to find. Other names are tested one by one.

| module | names of JAX | of these in irax |
|--------|--------------|------------------|
"""


def record() -> None:
    """Writes down the names of the JAX installed here."""
    import jax

    names = {module: jax_names(module) for module in MODULES}
    text = json.dumps({"version": jax.__version__, "names": names}, indent=1)
    RECORD.write_text(text + "\n", "utf-8")


def jax_names(module: str) -> list[str]:
    """The public names of a module of JAX: what it has itself, and modules of its own, also those
    that are not imported with it.
    """
    if module == "jax.experimental.ode":  # all else in it is imported from elsewhere
        return ["odeint"]
    found = importlib.import_module(module)
    own = {
        name
        for name in dir(found)
        if not name.startswith("_")
        for value in [getattr(found, name)]
        if not isinstance(value, types.ModuleType) or value.__name__.startswith(f"{module}.")
    }
    folder = [path for path in getattr(found, "__path__", ()) if module in PACKAGES]
    inner = (i.name for i in pkgutil.iter_modules(folder))
    return sorted(own | {name for name in inner if not name.startswith("_")})


def recorded() -> tuple[str, dict[str, list[str]]]:
    """The version of JAX whose names are written down, and these."""
    contents = json.loads(RECORD.read_text("utf-8"))
    return contents["version"], contents["names"]


def there(module: str) -> set[str]:
    """The names that irax has in a module; none if there is no such module."""
    try:
        found = importlib.import_module(module.replace("jax", "irax", 1))
    except ModuleNotFoundError:
        return set()
    names = recorded()[1][module]
    inner = getattr(irax, "_MODULES") if module == "jax" else set(names)  # noqa: B009
    return {
        name
        for name in names
        if hasattr(found, name)
        if not isinstance(getattr(found, name), types.ModuleType)
        or (name in inner and not _is_to_be_imported(module, name))
    }


def _is_to_be_imported(module: str, name: str) -> bool:
    """True for a module that is there only when somebody has imported it."""
    return f"{module}.{name}".removeprefix("jax.") in absent_names.WHY_ABSENT


def reason(module: str, name: str) -> str | None:
    """Why irax does not have a name."""
    return absent_names.why_absent(module.replace("jax", "irax", 1), name)


def lines(module: str) -> dict[str, str]:
    """A line for each function of a module that has cases, or whose methods do."""
    for table in ("lax", "linalg", "nn", "numpy", "scipy"):
        importlib.import_module(f"tests.frontend.{table}_cases")
    from tests.frontend.numpy_operands import CASES, Case

    found: dict[str, list[Case]] = {}
    for case in CASES:
        of, name = f"jax.{case.module}", case.name
        if of != module:  # a method of a distribution
            of, _, name = of.rpartition(".")
        if of == module:
            found.setdefault(name, []).append(case)
    return {name: _line(module, name, cases) for name, cases in sorted(found.items())}


def _line(module: str, name: str, cases: list[Any]) -> str:
    traced = [c for c in cases if c.traced]
    gradient = any(c.smooth and _floats(c) for c in traced)
    values = _references(module, cases)
    return f"| `{name}` | {values} | {_mark(bool(traced))} | {_mark(gradient)} |"


def _references(module: str, cases: list[Any]) -> str:
    modules = [getattr(c.reference, "__module__", None) or "numpy" for c in cases]
    kinds = {name.partition(".")[0] for name in modules}
    if "tests" in kinds:
        return "a formula"
    return "SciPy" if "scipy" in kinds or "scipy" in module else "NumPy"


def _mark(there: bool) -> str:
    return "yes" if there else "-"


def _floats(case: Any) -> bool:
    """Return True if there is something to differentiate, with respect to something."""
    from tests.frontend.case_checks import bound

    call, arrays = bound(case, 0)
    if not any(x.dtype.kind in "fc" and x.size for x in arrays):
        return False
    results = irax.eval_shape(lambda *given: call(case.function, given), *arrays)
    return any(x.dtype.kind in "fc" for x in irax.tree.leaves(results))


def table() -> str:
    """The contents of docs/api.md."""
    version, names = recorded()
    had = {module: there(module) for module in MODULES}
    rows = [
        f"| [`{module}`](#{module.replace('.', '')}) | {len(names[module])} | {len(had[module])} |"
        for module in MODULES
    ]
    parts = [HEAD.format(version=version) + "\n".join(rows)]
    for module in MODULES:
        parts.append(f"## {module}")
        rows = {name: line for name, line in lines(module).items() if name in had[module]}
        if rows:
            head = "| function | values | jit | gradient |\n|---|---|---|---|\n"
            parts.append(head + "\n".join(rows.values()))
        others = sorted(had[module] - set(rows))
        if others:
            start = "Also there: " if rows else "There: "
            listed = ", ".join(f"`{name}`" for name in others)
            parts.append(start + "\n".join(_wrapped(listed, len(start))))
        missing: dict[str, list[str]] = {}
        for name in names[module]:
            if name not in had[module]:
                missing.setdefault(reason(module, name) or "?", []).append(f"`{name}`")
        for why, found in missing.items():
            if len(found) > 9 and all(name.endswith("_p`") for name in found):
                missing[why] = [f"{len(found)} names that end in `_p`"]
        if missing:
            text = "\n".join(f"| {', '.join(found)} | {why} |" for why, found in missing.items())
            parts.append("| missing | why |\n|---|---|\n" + text)
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, indent: int) -> list[str]:
    lines = textwrap.wrap("x" * indent + text, 100, break_long_words=False, break_on_hyphens=False)
    return [lines[0][indent:], *lines[1:]]


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    PATH.write_text(table(), "utf-8")
