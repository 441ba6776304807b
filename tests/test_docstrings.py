"""Docstrings begin with what the thing is or does, not with a relative clause or a fragment."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FOLDERS = (
    *("frontend", "compiler", "runtime", "tools", "tests", "examples", "benchmarks", "website"),
)
RIDDLE = re.compile(r"(Of what|What|Whether|Who|How|Where|That|The same|Those|Of)\b")
"""The first words of sentences that say what a thing is only to those who know it: "Whether ..."
is "True if ...", "How many ..." is "The number of ...", "The same ..." names what is returned."""


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring, those after assignments included."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Expr(ast.Constant(str(text))) if isinstance(tree, BLOCKS):
                yield node.lineno, text.strip()
            case ast.stmt() | ast.ExceptHandler() | ast.match_case():  # expressions have none
                yield from docstrings(node)


def riddles(source: str) -> list[str]:
    """`line: first line` of each docstring that begins with one of those words."""
    return [
        f"{line}: {text.splitlines()[0]}"
        for line, text in docstrings(ast.parse(source))
        if RIDDLE.match(text)
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_say_what_a_thing_is(folder: str):
    found = [
        f"{path.relative_to(ROOT)}:{riddle}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for riddle in riddles(path.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        '"""What this module has."""',
        'def f():\n    """Whether it holds."""',
        'class A:\n    """ The same as B."""',
        'class A:\n    x: int\n    """How many there are."""',
        'X = 1\n"""Of the vector."""',
        'def f():\n    def g():\n        """Where it is."""',
    ],
)
def test_a_riddle_is_found(source: str):
    assert len(riddles(source)) == 1


def test_other_words_are_fine():
    source = (
        '"""Whatever you pass."""\ndef f():\n    """Return what f returns."""\n    return "What"'
    )
    assert not riddles(source)
