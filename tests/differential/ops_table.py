"""Writes docs/ops.md: every op, the rules it has, and what a target needs for it.

    python -m tests.differential.ops_table

A rule is in the table if a case of the op's family tests it (see test_ops.py and test_iree.py).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.differential.harness import CASES, NOT_DIFFERENTIABLE, Case

from irax_compiler import mlir
from irax_compiler.passes.legalize import sets
from irax_compiler.targets import find

PATH = Path(__file__).parents[2] / "docs" / "ops.md"
HEAD = """# Ops

All ops of StableHLO and CHLO that irax has. `make docs` writes this page, and a test fails when it
is not up to date.

Each column is a rule of the op, and "yes" means that tests hold it to something independent: values
to a formula in NumPy, derivatives to finite differences, batches to loops over every combination of
operands. On IREE's CPU target, all of these are compared with the evaluator.

- **build**, **read**: irax writes the op, and reads it back with its parameters.
- **jvp**: "integers": the results are integers or booleans, which have no tangents. "constant": the
  results do not change with the operands. "none": refused by name, since the op is a derivative
  itself or its results are not unique.
- **transpose**: for the operands in which the op is linear; "not linear" if there are none.
- **dtypes**: those of the op's cases in the tests.
- **iree-cpu**, **pjrt**: what becomes of the op on the way to a target. "as it is": the target
  takes it. Names in code are the legalizations that rewrite it where the target refuses it or gets
  it wrong (`compiler/irax_compiler/passes/legalize/`); `float8_function`, for all elementwise
  ops, is left out. "expanded": MLIR replaces it by StableHLO. "decomposed": it is replaced by its
  definition. "host": a library's function is called. "inlined": its function takes its place.

| op | build | read | evaluate | jvp | transpose | batch | dtypes | iree-cpu | pjrt |
|----|-------|------|----------|-----|-----------|-------|--------|----------|------|
"""
TAIL = """
Names that begin with `irax.` are composites (`stablehlo.composite`), which other tools run by
their decompositions. A `stablehlo.while` has reverse mode if it counts to a constant. Of
`stablehlo.custom_call` irax knows those of XLA's top-k kernels and of LAPACK, as JAX exports them,
its own callbacks, and collectives over the named axes of vmaps (`ops/collective.py`), which `batch`
replaces. An operation that is not in the table is refused by its name.
"""
CONSTANT = {"stablehlo.bitcast_convert", "stablehlo.constant", "stablehlo.iota"}
"""Ops without a tangent though their results are floats; other ops refuse one."""


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
    linear = any(True for c in own if c.has_derivative for _ in c.linear_subsets())
    cells = [
        f"`{name}`",
        *("yes", "yes", "yes"),
        tangent(name, own),
        "yes" if linear else "not linear",
        "yes",
        listed(dtypes(own)),
        *(on_target(name, target) for target in ("iree-cpu", "pjrt")),
    ]
    return f"| {' | '.join(cells)} |"


def tangent(name: str, cases: list[Case]) -> str:
    if name not in NOT_DIFFERENTIABLE:
        return "yes"
    types = (mlir.dtype_of_type(t) for c in cases for t in c.result_types)
    if not any(map(mlir.inexact, types)):
        return "integers"
    return "constant" if name in CONSTANT else "none"


def on_target(name: str, target: str) -> str:
    dialect = name.partition(".")[0]
    if name in find(target).host_functions:
        return "host"
    if name == "func.call":
        return "inlined"
    if dialect == "irax" or name in ("stablehlo.composite", "stablehlo.custom_call"):
        return "decomposed"
    legalizations = sets.CHLO if dialect == "chlo" else find(target).legalizations
    legalizations = [f"`{one.name}`" for one in legalizations if name in one.names]
    if dialect == "chlo":
        legalizations.append("expanded")
    return ", ".join(legalizations) or "as it is"


ORDER = list(mlir.DTYPES)
SPELLINGS = {dtype: text for text, dtype in mlir.DTYPES.items()}


def dtypes(cases: list[Case]) -> Iterator[str]:
    for case in cases:
        yield from (SPELLINGS[o.dtype] for o in case.operands)
        yield from (SPELLINGS[mlir.dtype_of_type(t)] for t in case.result_types)


def listed(names: Iterable[str]) -> str:
    """Dtypes in order, as Markdown: `complex<f32>` would be markup otherwise."""
    ordered = sorted(set(names), key=ORDER.index)
    return ", ".join(f"`{name}`" if "<" in name else name for name in ordered)


if __name__ == "__main__":
    PATH.write_text(table(), "utf-8")
