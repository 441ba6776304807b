"""Writes docs/reports/conformance.md from what `run.py` found.

python -m tests.conformance.report
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.generate import LEFT_OUT, TITLES, in_families
from tests.conformance.run import COUNT, FOLDER, OUTSIDE, SEED
from tests.differential.ops_table import on_target

PAGE = Path(__file__).parents[2] / "docs" / "reports" / "conformance.md"
NAMES = {
    "evaluator": "irax's evaluator",
    "cpu": "irax, `cpu`",
    "vulkan": "irax, `vulkan`",
    "interpreter": "StableHLO's interpreter",
    "llvm-cpu": "IREE alone, llvm-cpu",
    "vmvx": "IREE alone, vmvx",
    "vulkan-spirv": "IREE alone, Vulkan",
    "xla": "XLA's CPU plugin alone",
}
HEAD = """# Conformance

`make conformance` compares compilers with a model of StableHLO's specification, written from its
sentences in Python (`tests/conformance`): the operations of StableHLO and CHLO, in their
dtypes, at the edges. An elementwise case is one element; any other is one operation with its
operands. Exchanges between devices are in groups of one. This page is what it wrote.

- **wrong**: the specification has another answer.
- **subnormal**: likewise, but only where subnormal numbers are operands or results. IREE and XLA
  take them for zero ([devices](../devices.md#subnormal-numbers)).
- **open**: the specification has no answer, and irax's, mostly XLA's, is another: integers divided
  by zero, shifts by the width and more, conversions of what does not fit, CHLO at poles, random
  bits, Cholesky factors of indefinite matrices.
- **refused**: it did not compile. **ended**: the process ended, or did not end in time.

The specification says nothing of accuracy. Functions are right within 16 units in the last place of
float32 and float64, those of CHLO within 512, and within one of narrower floats; arithmetic is
right if it is the nearest number. Products and sums are of small integers, so that all orders give
the same. For compilers alone, IREE's flag for float64 is set, and no other. Compilers other than
the evaluator run a sample: of operations with a dtype and attribute of each kind, one of so many.
StableHLO's reference interpreter is in jaxlib's bindings (`stablehlo.eval_module`), after CHLO is
expanded; an operation that it lacks, or a quotient of integers by zero, ends its process. irax
refuses nothing of this page on `cpu` but `chlo.mulhi` of 2- and 4-bit integers: it says to convert
to int8. On `vulkan` it refuses float64, integers of 2 and 4 bits, and most narrow floats.
"""

FAMILIES = """## By family

Cases that are wrong / refused or ended / all.
"""

TAIL = """## For the maintainers

What costs irax a rewrite, with the sentence of the specification. The examples are whole programs.

**XLA, jaxlib 0.10.2, CPU: a scatter skips windows that are partly outside.** "If `result_index` is
in bounds for `shape(results...)`" is about each element of an update. Two elements 7, 8 written at
index 3 of `[0, 0, 0, 0]` give `[0, 0, 0, 7]`; XLA gives `[0, 0, 0, 0]`. irax scatters element by
element where a window may be partly outside (`forms/windows.py`).

**XLA, jaxlib 0.10.2, CPU: powers of integers are wrong for exponents of 64 and more.** "For
integers: integer exponentiation." 7 to the 64th in i32 is -1061456383, modulo 2**32; XLA gives 1.

**XLA, jaxlib 0.10.2, CPU: bits of i4 are counted in a byte.** `popcnt` of -8 is 1, of the bits
1000; XLA gives 5.

**StableHLO's interpreter, jaxlib 0.10.2: TOTALORDER is taken for FLOAT.** "For floating-point
element types with `compare_type = TOTALORDER`, the op uses the combination of `totalOrder` and
`compareQuietEqual` operations from IEEE-754." `compare EQ` of nan and nan is false, and of 0 and -0
true; `LT` of -0 and 0 false. So in every type.

**StableHLO's interpreter, jaxlib 0.10.2: roundings of f8E3M4 and f6E2M3FN.** `round_nearest_even`
and `round_nearest_afz` of 1.0 give nan in f8E3M4, and 0 in f6E2M3FN. Division by zero, which gives
the largest number elsewhere, gives 0 in the floats of 6 and 4 bits.

**IREE 3.13.0: a sort along a negative dimension is refused.** "`dimension` allows negative values."
`stablehlo.sort` of `tensor<5xf32>` with `dimension = -1` fails in `iree_linalg_ext.sort`:
"dimension must be within (0, 1]". irax counts from the first dimension.

**IREE 3.13.0: windows of dilated complex128 are refused.** `stablehlo.reduce_window` with
`base_dilations` above 1 fails: "'stream.async.splat' op operand #0 must be 8-bit signless integer
or 16-bit [...], but got 'i128'". irax pads real and imaginary parts before
(`windows_of_dilated_complex`).

**IREE 3.13.0: the start of a dynamic_update_slice in i8 is taken as unsigned.**
"`adjusted_start_indices = clamp(0, start_indices, shape(operand) - shape(update))`": at -1 the
update goes to 0. irax widens starts (`starts_in_narrow_integers`).
"""


def page(found: dict[str, Any]) -> str:
    """The report of all backends that ran."""
    without = "".join(f"- `{name}`: {why}\n" for name, why in LEFT_OUT.items())
    head = f"{HEAD}\nWithout cases are:\n\n{without}"
    by_family = [FAMILIES, families(found)]
    parts = [head, totals(found), *by_family, "## By operation\n\n", *sections(found), TAIL]
    return "\n".join(parts).rstrip() + "\n"


def totals(found: dict[str, Any]) -> str:
    """A row for each backend."""
    kinds = ("all", "wrong", "subnormal", "free", "refused", "ended")
    lines = [
        "| backend | version | sample | cases | wrong | subnormal | open | refused | ended |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, table in found.items():
        sums = [sum(row[kind] for row in table["ops"].values()) for kind in kinds]
        version = table["version"] if name in OUTSIDE else ""
        sample = f"1 of {table['every']}" if table["every"] else "all"
        cells = [NAMES[name], version, sample, *map(str, sums)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def families(found: dict[str, Any]) -> str:
    """A row for each family of operations, and in it a cell for each backend."""
    family: dict[str, str] = {}
    for title, case in in_families(SEED, COUNT):
        family.setdefault(case.op, title)
    lines = [
        f"| family | {' | '.join(NAMES[name] for name in found)} |",
        f"|---|{'---|' * len(found)}",
    ]
    for title in dict.fromkeys(TITLES.values()):
        cells = []
        for table in found.values():
            rows = [row for op, row in table["ops"].items() if family.get(op) == title]
            wrong, refused, ended, count = (
                sum(row[kind] for row in rows) for kind in ("wrong", "refused", "ended", "all")
            )
            cells.append(f"{wrong} / {refused + ended} / {count}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def sections(found: dict[str, Any]) -> list[str]:
    """For each op from which a backend deviates, a line of each such backend."""
    ops = sorted({op for table in found.values() for op in table["ops"]})
    written = []
    for op in ops:
        lines = []
        for name, table in found.items():
            row = table["ops"].get(op)
            if row is None:
                continue
            told = [
                f"{row[kind]} {word}{where(row.get(f'{kind} in', []))}"
                for kind, word in (("wrong", "wrong"), ("refused", "refused"), ("ended", "ended"))
                if row[kind]
            ]
            if told:
                lines.append(f"- {NAMES[name]}, of {row['all']}: {'; '.join(told)}")
        if lines and (irax := done_by_irax(op)):
            lines.append(f"- irax, before IREE: {irax}")
        if lines:
            written.append(f"**`{op}`**\n\n" + "\n".join(lines) + "\n")
    return written


def done_by_irax(op: str) -> str:
    """The legalizations of an op for IREE, and what else becomes of it, as docs/ops.md has it."""
    found = on_target(op, "iree-cpu")
    return "" if found == "as it is" else found


def where(notes: list[str]) -> str:
    """The dtypes, or the first words, of cases."""
    words = dict.fromkeys(note.split()[0] if note else "" for note in notes)
    some = [f"`{word}`" for word in words if word]
    more = ", ..." if len(some) > 8 else ""
    return f" ({', '.join(some[:8])}{more})" if some else ""


def main() -> None:
    """Write the page."""
    found = {
        name: json.loads(path.read_text("utf-8"))
        for name in NAMES
        if (path := FOLDER / f"{name}.json").exists()
    }
    PAGE.write_text(page(found), "utf-8")


if __name__ == "__main__":
    main()
