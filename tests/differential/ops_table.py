"""Writes docs/ops.md: every op, the rules it has, and what a target needs for it.

    python -m tests.differential.ops_table

A rule is in the table if a case of the op's family tests it (see test_ops.py and test_iree.py).
"""

from collections.abc import Iterator
from pathlib import Path

from tests.differential.harness import CASES, NOT_DIFFERENTIABLE, Case

from irax_compiler import mlir
from irax_compiler.passes.legalize.legalize import CURES

PATH = Path(__file__).parents[2] / "docs" / "ops.md"
HEAD = """# Ops

Every op of StableHLO and CHLO that irax has, made by `make docs`; a test fails when it is not up to
date. Each can be built, read back, evaluated in NumPy and batched over any combination of operands:
the tests of its cases hold it to that, on random numbers against an independent formula, on the
evaluator and on IREE's CPU target.

- **jvp**: it has a tangent, compared with finite differences; "-": its results are integers or
  booleans, or constant where they change at all.
- **transpose**: it is linear in some of its operands, and transposed in these; "-": it is not.
- **dtypes**: those that its cases have, of operands and results.
- **cures**: what `legalize` does about it for the target `iree-cpu` (see
  `compiler/irax_compiler/passes/legalize/`); "none": IREE takes it as it is.

| op | jvp | transpose | dtypes | cures |
|----|-----|-----------|--------|-------|
"""
TAIL = """
Names that begin with `irax.` are composites (`stablehlo.composite`), which other tools run by what
they are made of. A `stablehlo.while` has reverse mode if it counts to a constant. An operation that
is not in the table is refused by its name.
"""


def table() -> str:
    """The contents of docs/ops.md."""
    cases: dict[str, list[Case]] = {}
    for case in CASES:
        for name in set(case.op_names):
            cases.setdefault(name, []).append(case)
    rows = (row(name, cases[name]) for name in sorted(cases))
    return HEAD + "\n".join(rows) + "\n" + TAIL


def row(name: str, cases: list[Case]) -> str:
    own = [c for c in cases if len(set(c.op_names)) == 1] or cases
    jvp = "-" if name in NOT_DIFFERENTIABLE else "yes"
    linear = any(True for c in own if c.has_derivative for _ in c.linear_subsets())
    cures = [f"`{c.name}`" for c in CURES["iree-cpu"] if name in c.operations]
    cells = [
        f"`{name}`",
        jvp,
        "yes" if linear else "-",
        ", ".join(sorted(set(dtypes(own)), key=ORDER.index)),
        ", ".join(cures) or "none",
    ]
    return f"| {' | '.join(cells)} |"


ORDER = list(mlir.DTYPES)
SPELLINGS = {dtype: text for text, dtype in mlir.DTYPES.items()}


def dtypes(cases: list[Case]) -> Iterator[str]:
    for case in cases:
        yield from (SPELLINGS[o.dtype] for o in case.operands)
        yield from (SPELLINGS[mlir.dtype_of_type(t)] for t in case.result_types)


if __name__ == "__main__":
    PATH.write_text(table(), "utf-8")
