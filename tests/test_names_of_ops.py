"""Passes ask the traits of ops, and hold no sets of their names: an op that is added is in no such
set, and nobody is told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

COMPILER = Path(__file__).parent.parent / "compiler" / "irax_compiler"
DECLARED_IN = {"forms", "ops"}
"""The folders where ops are declared, and where modules of other frameworks are read."""

ALLOWED = {
    ("cost.py", "_COUNTED"): "dialects, not ops",
    ("effects.py", "_ACTIONS"): "operations that irax has no ops for",
    ("mlir/symbols.py", "_REFERENCES"): "the operations that may name functions",
    (
        "passes/repairs/limit_fusion.py",
        "_APART",
    ): "what IREE fuses; others count as fused, which is safe",
    ("passes/optimize/convert_precision.py", "_computes_floats"): "dialects, not ops",
    ("precision/pairs.py", "_FUNCTIONS"): "a formula for each",
    ("precision/pairs.py", "_evaluated"): "one formula for two, of small angles alone",
    ("precision/wide.py", "_FUNCTIONS"): "a formula for each",
    ("passes/sizes/dynamic_shapes.py", "_CALLS"): "what has no form for unknown sizes",
    (
        "passes/sizes/dynamic_shapes.py",
        "_WITH_SIZED_OPERANDS",
    ): "what IREE compiles for unknown sizes",
    (
        "passes/legalize/encode.py",
        "_KEEP_BYTES",
    ): "what moves bytes; others decode them, which is safe",
    ("passes/legalize/encode.py", "_READ"): "what the pass rewrites in ways of its own",
    ("passes/legalize/iree/computations.py", "_COMPUTED"): "where IREE lacks some operations",
    ("passes/legalize/iree/convolution.py", "_moves"): "what IREE fuses wrongly",
    ("passes/legalize/numerics/complex_functions.py", "_FUNCTIONS"): "a formula for each",
    ("passes/kernels/loops/clusters.py", "_is_of"): "what the pass itself builds",
}
"""The places where names of several ops stand together, each with the reason."""


def is_name(node: ast.expr | None) -> bool:
    """Return True for the name of an operation, or of several, such as `f"stablehlo.{name}"`."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and re.match(r"(stablehlo|chlo)\.", text) is not None


def names_several(node: ast.AST) -> bool:
    """Return True if a node is a collection of names of operations."""
    match node:
        case ast.Set(elts) | ast.List(elts) | ast.Tuple(elts) | ast.Dict(elts):
            return sum(map(is_name, elts)) > 1
        case ast.SetComp(each) | ast.ListComp(each) | ast.GeneratorExp(each) | ast.DictComp(each):
            return is_name(each)
        case _:
            return False


def label(statement: ast.stmt) -> str:
    """The name that a statement of a module gives to something."""
    match statement:
        case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
            return name
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return name
        case _:
            return f"line {statement.lineno}"


def found() -> Iterator[tuple[str, str]]:
    """The file and the name of each collection of names of operations."""
    for path in sorted(COMPILER.rglob("*.py")):
        relative = path.relative_to(COMPILER)
        if relative.parts[0] in DECLARED_IN:
            continue
        for statement in ast.parse(path.read_text("utf-8")).body:
            if any(map(names_several, ast.walk(statement))):
                yield relative.as_posix(), label(statement)


def test_passes_hold_no_sets_of_names() -> None:
    there = set(found())
    new = there - ALLOWED.keys()
    assert not new, (
        f"{sorted(new)}: names of several ops stand together. State what they have in common as a "
        "trait of `Op` (irax_compiler/ops/core.py) and ask `traits_of(operation)`; or add the "
        "place to ALLOWED, with the reason"
    )
    assert not ALLOWED.keys() - there, "ALLOWED has places where no names stand any more"


def test_collections_of_names_are_found() -> None:
    source = """
A = {"stablehlo.add", "chlo.erf"}
B = {f"stablehlo.{name}" for name in ("add", "sine")}
C = ("stablehlo.add", "stablehlo.sine")
D = {"stablehlo.add": 1, "stablehlo.sine": 2}
E = "stablehlo.add"
"""
    statements = ast.parse(source).body
    some = [label(s) for s in statements if any(map(names_several, ast.walk(s)))]
    assert some == ["A", "B", "C", "D"]
