"""What libraries import of JAX: counted in their sources, and looked up in irax.

python -m tests.ecosystem.names --read SOURCES     counts names; SOURCES has a folder for each library
python -m tests.ecosystem.names --jax PYTHON       asks JAX which of them it has; PYTHON has JAX
python -m tests.ecosystem.names                    asks irax, and writes docs/compatibility-names.md

Names are read from the syntax of files: `import jax.a`, `from jax.a import b`, and attributes of what
these bind. They stand in names.json, with the libraries that use each, and if JAX has it.
"""

import argparse
import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
KEPT = HERE / "names.json"
PAGE = HERE.parents[1] / "docs" / "compatibility-names.md"
PACKAGES = ("jax", "jaxlib")
"""The packages whose names are counted."""


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
        if node.level or (node.module or "").partition(".")[0] not in PACKAGES:
            return
        for alias in node.names:
            name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
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
        else:
            self.generic_visit(node)


def names_in(source: str) -> set[str]:
    """Return the names of JAX in the text of a file; of one that is not Python, none.

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
        for file in library.rglob("*.py"):
            if file.is_file():
                for name in names_in(file.read_text("utf-8", "replace")):
                    users[name].add(library.name)
    return {name: sorted(found) for name, found in sorted(users.items())}
