"""Writes docs/api.md: the public names of JAX, and which of them irax has.

python -m tests.frontend.api_table             of the names that were recorded
python -m tests.frontend.api_table --record    after recording those of the JAX installed here
"""

import importlib
import json
import sys
import textwrap
import types
from pathlib import Path

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
    *("jax.scipy.cluster.vq", "jax.scipy.spatial.transform", "jax.scipy.sparse.linalg"),
)

_ONE_BIT = "StableHLO's integers of 1 bit are its booleans, so there is no such dtype"
_STATIC = "shapes are static: a function is exported for each shape that it is called with"
_VERSION = "files say their own version"
WHY_NOT = {
    "jax.export.DisabledSafetyCheck": "there are no such checks: what cannot be run is refused",
    "jax.export.SymbolicScope": _STATIC,
    "jax.export.is_symbolic_dim": _STATIC,
    "jax.export.symbolic_args_specs": _STATIC,
    "jax.export.symbolic_shape": _STATIC,
    "jax.export.maximum_supported_calling_convention_version": _VERSION,
    "jax.export.minimum_supported_calling_convention_version": _VERSION,
    "jax.numpy.int1": _ONE_BIT,
    "jax.numpy.uint1": _ONE_BIT,
    "jax.random.random_gamma_p": "a primitive of JAX's: `gamma` and `loggamma` are functions",
}
"""For names that irax does not have, the reason."""
NOT_YET = "not yet"

HEAD = """# Names

JAX's public names ({version}), module by module, and which of them irax has, made by `make docs`; a
test fails when it is not up to date. `jax.` becomes `irax.`: `jax.numpy.sin` is `irax.numpy.sin`.

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
    """The public names of a module of JAX: what it has itself, and modules of its own."""
    if module == "jax.experimental.ode":  # all else in it is imported from elsewhere
        return ["odeint"]
    found = importlib.import_module(module)
    return sorted(
        name
        for name in dir(found)
        if not name.startswith("_")
        for value in [getattr(found, name)]
        if not isinstance(value, types.ModuleType) or value.__name__.startswith(f"{module}.")
    )


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
    return {name for name in names if hasattr(found, name)}


def reason(module: str, name: str) -> str:
    """Why irax does not have a name."""
    return WHY_NOT.get(f"{module}.{name}", NOT_YET)


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
        if had[module]:
            listed = ", ".join(f"`{name}`" for name in sorted(had[module]))
            parts.append("There: " + "\n".join(_wrapped(listed, len("There: "))))
        missing = [name for name in names[module] if name not in had[module]]
        if missing:
            lines = [f"| `{name}` | {reason(module, name)} |" for name in missing]
            parts.append("| missing | why |\n|---|---|\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, indent: int) -> list[str]:
    lines = textwrap.wrap("x" * indent + text, 100, break_long_words=False, break_on_hyphens=False)
    return [lines[0][indent:], *lines[1:]]


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    PATH.write_text(table(), "utf-8")
