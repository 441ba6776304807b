"""Names of JAX that libraries import: counted in their sources, and looked up in irax.

python -m tests.ecosystem.names --read SOURCES --jax PYTHON
    counts those that JAX has, which PYTHON imports; SOURCES has a folder for each library
python -m tests.ecosystem.names
    looks them up in irax, and writes docs/compatibility-names.md

Names are read from the syntax of files: `import jax.a`, `from jax.a import b`, and attributes of
what these bind. They are kept in names.json, with the libraries that use each.
"""

import argparse
import ast
import importlib
import json
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
KEPT = HERE / "names.json"
PAGE = HERE.parents[1] / "docs" / "compatibility-names.md"
PACKAGES = ("jax", "jaxlib")
SHOWN = 4
"""At most so many libraries are named in a row."""
INTERNAL = ("jax._src", "jaxlib", "jax.interpreters", "jax.extend", "jax.core", "jax.lib")
REFUSED = {
    "pallas": "Pallas: names can be imported, and raise an error when they are called",
    "mosaic": "Pallas: names can be imported, and raise an error when they are called",
    "mlir": "JAX's bindings of MLIR, and functions that build operations by them",
    "test_util": "helpers of JAX's own tests",
    "cudnn": "kernels of cuDNN",
    "cuda_versions": "versions of CUDA's libraries",
    "gpu_triton": "kernels of Triton",
}
"""Parts of names that irax has not, and what they are."""
HEAD = """# Names of JAX that libraries use

The sources of {libraries} libraries and programs for JAX use {names:,} names of modules, functions,
classes and attributes that JAX 0.10.2 has. Under `irax.compat` **{there:,} are there**
({share:.1f} %); {families} of the others belong to these families:

{list}

`python -m tests.ecosystem.names` writes this page
([its script](../tests/ecosystem/names.py) says how names are counted).

## By module

| module | names | there | absent |
|--------|------:|------:|-------:|
"""


class Reader(ast.NodeVisitor):
    """Collects the names of JAX that a file uses, under whatever names it has imported them."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._bound: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if top in PACKAGES:
                self.found.add(alias.name)
                self._bound[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.partition(".")[0] not in PACKAGES:
            return
        for alias in node.names:
            name = module if alias.name == "*" else f"{module}.{alias.name}"
            self.found.add(name)
            self._bound[alias.asname or alias.name] = name

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self._bound:
            self.found.add(".".join([self._bound[inner.id], *reversed(parts)]))


def names_in(source: str) -> set[str]:
    """Return the names of JAX in the text of a file; none of a file that is not Python.

    >>> sorted(names_in("import jax.numpy as jnp\\nfrom jax import lax\\njnp.sin(lax.add(1, 2))"))
    ['jax.lax', 'jax.lax.add', 'jax.numpy', 'jax.numpy.sin']
    """
    if "jax" not in source:
        return set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    reader = Reader()
    for kind in (ast.Import | ast.ImportFrom, ast.Attribute):  # imports may stand below their uses
        for node in ast.walk(tree):
            if isinstance(node, kind):
                reader.visit(node)
    return reader.found


def read(sources: Path) -> dict[str, list[str]]:
    """Return the libraries that use each name."""
    users: defaultdict[str, set[str]] = defaultdict(set)
    for library in sorted(path for path in sources.iterdir() if path.is_dir()):
        for file in filter(Path.is_file, library.rglob("*.py")):
            for name in names_in(file.read_text("utf-8", "replace")):
                users[name].add(library.name)
    return {name: sorted(found) for name, found in sorted(users.items())}


def exists(name: str) -> bool:
    """Return True for a module, or an attribute of one or of a class; attributes of other objects
    are not followed.
    """
    top, *parts = name.split(".")
    found: Any = importlib.import_module(top)
    path = top
    for part in parts:
        path = f"{path}.{part}"
        try:
            found = getattr(found, part)
        except Exception:  # deprecated names raise of many kinds
            try:
                found = importlib.import_module(path)
            except Exception:
                return False
        if not isinstance(found, ModuleType | type):
            return True
    return True


def asked(names: Iterable[str], *command: str) -> dict[str, bool]:
    """Return if each name exists for a command of Python's, which runs this file."""
    done = subprocess.run(
        [*command, str(HERE / "names.py"), "--ask"],
        input=json.dumps(list(names)),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def there(names: Iterable[str]) -> dict[str, bool]:
    """Return if each name exists under `irax.compat`."""
    return asked(names, sys.executable, "-W", "ignore", "-m", "irax.compat")


def keep(users: dict[str, list[str]]) -> None:
    """Write names.json, in which libraries go by their numbers."""
    libraries = sorted({library for who in users.values() for library in who})
    numbers = {library: number for number, library in enumerate(libraries)}
    lines = (
        f"{json.dumps(name)}: {json.dumps([numbers[library] for library in who])}"
        for name, who in users.items()
    )
    names = ",\n".join(lines)
    KEPT.write_text(f'{{"libraries": {json.dumps(libraries)},\n"names": {{\n{names}\n}}}}\n')


def kept() -> dict[str, list[str]]:
    """Return the libraries that use each name, from names.json."""
    content = json.loads(KEPT.read_text())
    libraries = content["libraries"]
    return {name: [libraries[i] for i in numbers] for name, numbers in content["names"].items()}


def family(name: str) -> str | None:
    """Return what a name belongs to that irax has not; None for other names."""
    return next((told for part, told in REFUSED.items() if part in name), None)


def page(users: dict[str, list[str]], found: dict[str, bool]) -> str:
    """Return the page of names, which are there or not."""
    absent = [name for name in users if not found[name]]
    counted = Counter(told for name in absent if (told := family(name)))
    modules = Counter(map(_module, users))
    missing = Counter(map(_module, absent))
    libraries = {user for found_in in users.values() for user in found_in}
    count = len(users) - len(absent)
    listed = "\n".join(f"- {told} ({counted[told]})" for told in dict.fromkeys(REFUSED.values()))
    text = HEAD.format(
        libraries=len(libraries),
        names=len(users),
        there=count,
        share=100 * count / len(users),
        families=counted.total(),
        list=listed,
    )
    for module, number in modules.most_common():
        text += f"| `{module}` | {number} | {number - missing[module]} | {missing[module]} |\n"
    others = [name for name in absent if family(name) is None]
    text += "\n## Absent names\n\nAll but those of the families above.\n\n" + _table(
        users, others, found
    )
    internal = [n for n in users if n.startswith(INTERNAL) and found[n] and len(users[n]) > 1]
    text += "\n## Internal names that are there\n\nThose that two libraries or more use.\n\n"
    return text + _table(users, internal, found)


def _module(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 else parts[0]


def _table(users: dict[str, list[str]], names: Iterable[str], found: dict[str, bool]) -> str:
    rows = "| name | libraries | state |\n|------|-----------|-------|\n"
    for name in sorted(names, key=lambda name: (-len(users[name]), name)):
        who = users[name]
        more = f" and {len(who) - SHOWN} more" if len(who) > SHOWN else ""
        state = "there" if found[name] else "absent"
        rows += f"| `{name}` | {', '.join(who[:SHOWN])}{more} | {state} |\n"
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--jax", default=sys.executable)
    parser.add_argument("--ask", action="store_true")
    options = parser.parse_args()
    if options.ask:
        warnings.simplefilter("ignore")
        print(json.dumps({name: exists(name) for name in json.load(sys.stdin)}))
        return
    if options.read:
        users = read(options.read)
        on_jax = asked(users, options.jax)
        keep({name: who for name, who in users.items() if on_jax[name]})
    users = kept()
    PAGE.write_text(page(users, there(users)))


if __name__ == "__main__":
    main()
