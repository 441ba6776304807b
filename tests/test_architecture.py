"""The house rules that a type checker doesn't see: who may import whom, and how long a file is.

    frontend -> compiler, runtime       tools -> frontend, compiler, runtime

The compiler and the runtime know nobody above them, and not each other; the MLIR bindings and the
IREE runtime are each known in one place, so that another of their kind can take over there.
"""

import ast
import collections
import functools
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "irax": ROOT / "frontend",
    "irax_compiler": ROOT / "compiler",
    "irax_runtime": ROOT / "runtime",
    "irax_tools": ROOT / "tools",
}
MAY_IMPORT = {
    "irax": {"irax_compiler", "irax_runtime"},
    "irax_compiler": set(),
    "irax_runtime": set(),
    "irax_tools": {"irax", "irax_compiler", "irax_runtime"},
}
BINDINGS = PurePosixPath("irax_compiler/mlir")
IREE = PurePosixPath("irax_compiler/iree")
GENERATED = {ROOT / "runtime/irax_runtime/pjrt/abi.py"}
MAX_LINES = 700
MAX_FILES = 30


def sources() -> list[Path]:
    return [path for name, folder in FOLDERS.items() for path in (folder / name).rglob("*.py")]


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the full dotted name of all that is imported.

    Relative imports are left out: they can't leave their package.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module


@functools.cache
def imported(source: str) -> tuple[tuple[int, str], ...]:
    """All imports of a file: several tests ask for those of the same file."""
    return tuple(imports(ast.parse(source)))


def within(name: str, *modules: str) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def broken_rule(importer: PurePosixPath, name: str) -> str | None:
    """The rule that a file (its path from its package on) breaks by importing `name`, if any."""
    package = importer.parts[0]
    other = name.partition(".")[0]
    if other in MAY_IMPORT and other != package and other not in MAY_IMPORT[package]:
        allowed = ", ".join(sorted(MAY_IMPORT[package])) or "none of the other packages"
        return f"{package} may import {allowed}"
    if within(name, "jax", "jaxlib"):
        return "the product never imports JAX"
    if within(name, "iree.runtime") and package != "irax_runtime":
        return "only irax_runtime imports iree.runtime"
    if within(name, "iree.compiler") and not importer.is_relative_to(BINDINGS):
        if not importer.is_relative_to(IREE):
            return f"only {BINDINGS} imports iree.compiler"
        if not within(name, "iree.compiler.api", "iree.compiler.tools"):
            return f"{IREE} may import iree.compiler.api and .tools; the rest is {BINDINGS}'s"
    return None


def violations(importer: PurePosixPath, source: str) -> list[str]:
    """`line: rule` for every import of the file that breaks one."""
    return [
        f"{line}: imports {name}, but {rule}"
        for line, name in imported(source)
        if (rule := broken_rule(importer, name))
    ]


def test_every_package_is_looked_at():
    assert {path.relative_to(ROOT).parts[1] for path in sources()} == set(FOLDERS)


@pytest.mark.slow
def test_imports_stay_within_the_boundaries():
    found = [
        f"{path.relative_to(ROOT)}:{violation}"
        for path in sources()
        for violation in violations(
            PurePosixPath(*path.relative_to(ROOT).parts[1:]), path.read_text("utf-8")
        )
    ]
    assert not found, "\n".join(found)


ABOVE = {
    "core": ("transforms", "execution", "numpy", "lax", "random", "nn", "scipy", "image", "stages"),
    "execution": ("transforms", "numpy", "lax", "random", "nn", "scipy", "image"),
    "transforms": ("numpy", "lax", "random", "nn", "scipy", "image"),
}
"""For each of the frontend's inner rooms, what stands above it."""


def test_the_frontends_rooms_import_downwards():
    house = FOLDERS["irax"] / "irax"
    upward = {
        f"{path.relative_to(house)}: irax.{other}"
        for room, above in ABOVE.items()
        for path in (house / room).rglob("*.py")
        for _, name in imported(path.read_text("utf-8"))
        for other in above
        if within(name, f"irax.{other}")
    }
    assert not upward


MODES = {"current", "current_trace", "innermost", "interpreters"}
"""Names by which one finds out where operations go."""

KNOW_MODES = {
    "core/dispatch.py",
    "core/dtypes/promotion.py",
    "core/refs/hi_values.py",
    "core/refs/refs.py",
    "core/shardings/shard_traces.py",
    "core/tracing.py",
    "core/transfer_guards.py",
    "execution/jitted.py",
    "execution/replay.py",
    "jaxprs/user_traces.py",
}
"""The files that do, besides the interpreters: those that pick one, those that are written on that,
those that start traces of their own, the interpreter of traces of the user's, mutable arrays, which
a trace owns, and guards of copies, of which there are none in a trace. Any other gives both of what
may be done to `staged` or `shortcut` of `core/dispatch.py`."""


def asks_for_modes(source: str) -> bool:
    """True if a file imports one of `MODES` of the core, or reads it from a module of the core."""
    tree = ast.parse(source)
    imported = {name for _, name in imports(tree) if within(name, "irax.core")}
    if any(MODES.intersection(name.split(".")) for name in imported):
        return True
    modules = {name.rpartition(".")[2] for name in imported}
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in MODES
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        for node in ast.walk(tree)
    )


def test_only_dispatch_knows_where_operations_go():
    house = FOLDERS["irax"] / "irax"
    found = {
        str(path.relative_to(house))
        for path in house.rglob("*.py")
        if not path.is_relative_to(house / "core/interpreters")
        and asks_for_modes(path.read_text("utf-8"))
    }
    assert found == KNOW_MODES


@pytest.mark.parametrize(
    "source, asks",
    [
        ("from irax.core.tracing import Tracer, current_trace", True),
        ("from irax.core.dispatch import bind, current", True),
        ("from irax.core.interpreters.replay import Replay", True),
        ("from irax.core import tracing\nif tracing.innermost.trace: pass", True),
        ("def f():\n    from irax.core import dispatch\n    dispatch.current()", True),
        ("from irax.core.dispatch import bind, elements, shortcut, staged", False),
        ("from irax.core import dispatch\ndispatch.clear_cache()", False),
        ("from irax.execution import backend\nbackend.current()", False),
    ],
)
def test_asking_for_modes_is_found(source: str, asks: bool):
    assert asks_for_modes(source) is asks


DOORS = {
    "irax": (
        *("api", "mlir", "ops", "targets"),
        *(
            "activity",
            "cache",
            "cells",
            "containers",
            "determinism",
            "dtypes",
            "effects",
        ),
        "importing",
        *("kept_programs", "own_files", "quiet", "sizes", "spans", "versions"),
        "iree.phases",
    ),
    "irax_tools": (
        *("api", "mlir", "ops", "targets"),
        *(
            "blas",
            "cache",
            "cells",
            "containers",
            "cost",
            "iree",
            "locations",
            "sizes",
            "spans",
        ),
    ),
}
"""The modules of the compiler that the frontend and the tools import: facade, ops, IR, targets,
and a few files that each do one thing."""


def inner_imports(package: str, source: str) -> list[str]:
    """Return the imports of a file from the compiler that are not in `DOORS`."""
    doors = [f"irax_compiler.{door}" for door in DOORS[package]]
    return [
        name
        for _, name in imported(source)
        if within(name, "irax_compiler") and name != "irax_compiler" and not within(name, *doors)
    ]


@pytest.mark.parametrize("package", DOORS)
def test_the_compiler_is_used_through_its_doors(package: str):
    found = {
        str(path.relative_to(ROOT)): names
        for path in (FOLDERS[package] / package).rglob("*.py")
        if (names := inner_imports(package, path.read_text("utf-8")))
    }
    assert not found, "import this from irax_compiler.api"


def test_an_import_of_the_compilers_inside_is_found():
    source = "from irax_compiler import api\nfrom irax_compiler.passes.derive.jvp import Jvp"
    assert inner_imports("irax", source) == ["irax_compiler.passes.derive.jvp.Jvp"]


# ---- circles -------------------------------------------------------------------------------------


def modules(package: str) -> dict[str, Path]:
    """The files of a package by the names of their modules."""
    folder = FOLDERS[package]
    found = {}
    for path in (folder / package).rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """For each module, the others among `sources` that it imports, inside of functions or not,
    and for annotations."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        graph[module] = set()
        for _, name in imports(ast.parse(source)):
            while name and name not in sources:
                name = name.rpartition(".")[0]
            if name not in ("", module):
                graph[module].add(name)
    return graph


def circles(graph: Mapping[str, Collection[str]]) -> list[list[str]]:
    """The sets of several nodes that all reach one another: Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = lowest[node] = len(order)
        path.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
            if other in path:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            start = path.index(node)
            found.append(sorted(path[start:]))
            del path[start:]

    for node in graph:
        if node not in order:
            visit(node)
    return [circle for circle in found if len(circle) > 1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("package", FOLDERS)
def test_no_imports_go_in_circles(package: str):
    graph = import_graph({n: path.read_text("utf-8") for n, path in modules(package).items()})
    assert circles(graph) == []


@pytest.mark.parametrize(
    "source, closes",
    [
        ("import p.b", True),
        ("from p import b", True),
        ("def f():\n    from p.b import c", True),
        ("import importlib\nimportlib.import_module('p.b')", True),
        ("if TYPE_CHECKING:\n    import p.b\nelse:\n    import p.c", True),
        ("import p.c, q.b", False),
    ],
)
def test_a_circle_is_found(source: str, closes: bool):
    graph = import_graph({"p.a": source, "p.b": "from p.a import x", "p.c": ""})
    assert circles(graph) == ([["p.a", "p.b"]] if closes else [])


def of_rooms(graph: Mapping[str, Collection[str]], folder: str) -> dict[str, set[str]]:
    """Return which of a folder's files and rooms import which others."""
    start = f"{folder}."
    rooms: dict[str, set[str]] = {}
    for module, others in graph.items():
        if module.startswith(start):
            inside = (other for other in others if other.startswith(start))
            rooms.setdefault(_room(module, start), set()).update(_room(x, start) for x in inside)
    return {room: others - {room} for room, others in rooms.items()}


def _room(module: str, start: str) -> str:
    return module.removeprefix(start).partition(".")[0]


IN_CIRCLES = {
    "irax": "public modules at JAX's paths have implementation in them, such as irax.dtypes",
    "irax.core": "arrays, avals and meshes are of types that tell of each other",
    "irax.numpy": "families of functions are made of each other's",
}
"""Folders whose files and rooms import each other in circles, though no files do, and why. This
list gets shorter."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("package", FOLDERS)
def test_few_rooms_are_in_circles(package: str):
    graph = import_graph({n: path.read_text("utf-8") for n, path in modules(package).items()})
    folders = {package, *(module.rpartition(".")[0] for module in graph)} - {""}
    found = {folder for folder in folders if circles(of_rooms(graph, folder))}
    assert found == {folder for folder in IN_CIRCLES if within(folder, package)}


def test_a_circle_of_rooms_is_found():
    graph = {"p.a.x": {"p.b.x", "p.a.y"}, "p.b.x": {"q"}, "p.b.y": {"p.a.y"}, "p.a.y": (), "q": ()}
    assert circles(graph) == []
    assert of_rooms(graph, "p") == {"a": {"b"}, "b": {"a"}}


def test_what_both_rooms_need_is_the_same_in_both():
    ours, theirs = (FOLDERS[name] / name / "once.py" for name in ("irax_compiler", "irax_runtime"))
    assert ours.read_text("utf-8") == theirs.read_text("utf-8")


def floors() -> dict[str, int]:
    """The number of Python files in each folder of the packages and the tests."""
    paths = [*sources(), *(ROOT / "tests").rglob("*.py")]
    return dict(collections.Counter(str(path.parent.relative_to(ROOT)) for path in paths))


LARGE_FLOORS = {
    "compiler/irax_compiler/ops": "families of ops are found by being there",
    "tests/ecosystem": "a program for each library, found by its name",
}
"""Folders of more than `MAX_FILES` files, and why they are no rooms of rooms."""


def test_floors_have_few_files():
    large = {folder for folder, count in floors().items() if count > MAX_FILES}
    assert large == set(LARGE_FLOORS), f"more than {MAX_FILES} files: sort them by subject"


def test_files_are_short():
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in sources()}
    found = [
        f"{path.relative_to(ROOT)}:{length}: a file is one idea and at most {MAX_LINES} lines"
        " (aim at 500): split it"
        for path, length in lengths.items()
        if length > MAX_LINES and path not in GENERATED
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "importer, source",
    [
        ("irax_compiler/passes/derive/jvp.py", "import irax_compiler.mlir\nimport numpy as np"),
        ("irax_compiler/passes/derive/jvp.py", "from . import batch\nfrom ..ops import irax"),
        ("irax_compiler/mlir/bindings.py", "from iree.compiler import ir, passmanager"),
        ("irax_compiler/iree/cpu.py", "from iree.compiler import api"),
        ("irax_compiler/iree/cpu.py", "from iree.compiler.tools import compile_str"),
        ("irax_runtime/device.py", "import iree.runtime as rt"),
        ("irax/jit.py", "import irax_compiler, irax_runtime\nfrom irax import numpy"),
        ("irax_tools/cli.py", "import irax\nfrom irax_runtime import device"),
        ("irax/jaxpr.py", "import jaxtyping"),
    ],
)
def test_an_allowed_import_passes(importer: str, source: str):
    assert violations(PurePosixPath(importer), source) == []


@pytest.mark.parametrize(
    "importer, source, rule",
    [
        ("irax_compiler/a.py", "import irax", "none of the other packages"),
        ("irax_compiler/a.py", "from irax_runtime import device", "none of the other packages"),
        ("irax_runtime/a.py", "import irax_compiler.mlir as m", "none of the other packages"),
        ("irax_runtime/a.py", "from irax.numpy import sin", "none of the other packages"),
        ("irax/a.py", "from irax_tools import cli", "irax may import irax_compiler, irax_runtime"),
        ("irax_runtime/a.py", "import iree.compiler.ir", "only irax_compiler/mlir"),
        ("irax_compiler/a.py", "from iree.compiler import ir", "only irax_compiler/mlir"),
        ("irax_compiler/mlir.py", "from iree import compiler", "only irax_compiler/mlir"),
        ("irax_compiler/iree/a.py", "from iree.compiler import ir", "iree.compiler.api and"),
        ("irax_compiler/iree/a.py", "import iree.compiler", "iree.compiler.api and"),
        ("irax_compiler/iree/a.py", "from iree import runtime", "only irax_runtime"),
        ("irax_tools/run.py", "import iree.runtime", "only irax_runtime"),
        ("irax/a.py", "from jax.numpy import sin", "never imports JAX"),
        ("irax/a.py", "import numpy, jaxlib.xla_client", "never imports JAX"),
        ("irax/a.py", "importlib.import_module('jax')", "never imports JAX"),
        ("irax/a.py", "if TYPE_CHECKING:\n    import jax", "never imports JAX"),
        ("irax/a.py", "def f():\n    return __import__('jax')", "never imports JAX"),
    ],
)
def test_a_forbidden_import_is_found(importer: str, source: str, rule: str):
    (violation,) = violations(PurePosixPath(importer), source)
    assert rule in violation
    assert violation.startswith(f"{len(source.splitlines())}: ")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "module",
    ["ops.evaluation.evaluator", "ops", "targets", "lowering", "passes", "kept_programs"],
)
def test_modules_of_the_compiler_can_be_imported_first(module: str) -> None:
    command = [sys.executable, "-c", f"import irax_compiler.{module}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
