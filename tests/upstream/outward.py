"""Writes docs/reports/upstream.md: what legalizations work around, told to those who can mend it.

python -m tests.upstream.outward                     all programs run anew
python -m tests.upstream.outward stable_sort ...     some; the others stay as they are

A text has the program, what it should give by which sentence of the specification, and what a
compiler makes of it. What ends a process has no program.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import numpy as np
from tests.conformance.smallest import Peer
from tests.upstream.reproduction import Observed, Reproduction, is_near, observed
from tests.upstream.table import legalizations

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.legalize.legalization import Legalization

PAGE = Path(__file__).parents[2] / "docs" / "reports" / "upstream.md"
OF = ("IREE", "XLA", "StableHLO", "Mesa")
LIMIT = 300
"""The seconds in which a program ends, on a busy machine too."""
PACKAGES = {"pjrt": ("XLA", "xla-cpu-pjrt"), "iree": ("IREE", "iree-base-compiler")}
HEAD = """# Reports for upstream

What costs irax a legalization, as texts for the maintainers of IREE, XLA, StableHLO and Mesa, which
can be filed as they stand. `python -m tests.upstream.outward` makes them from the programs of the
legalizations in [tests/upstream](../../tests/upstream), and runs these;
[the table](../legalizations.md) says which legalization works around what. What is slow, but right,
is left out.

A program is the text of a file. Where an input has fewer elements than its argument, they are
repeated. The right results are those of irax's evaluator, which is held to
[a model of the specification](conformance.md). IREE is called as it is, with the flag
`--iree-input-demote-f64-to-f32=false` and, on a CPU, `--iree-llvmcpu-target-cpu=host`; where this
is right, with those of irax, too (`compiler/irax_compiler/iree/compiler.py`). What ends the process
of a compiler, or reaches memory that is not the program's, is told in words.
"""


def deviations() -> dict[str, list[Legalization]]:
    """The legalizations of each program, or, without a program, of each name; not the slow ones."""
    found: dict[str, list[Legalization]] = {}
    for name, (one, _) in legalizations().items():
        if one.kind != "slow":
            found.setdefault(name if one.fatal else one.reproduction, []).append(one)
    return found


def of(ones: Iterable[Legalization]) -> str:
    """The software that a deviation is filed under: the first that is named."""
    (first, *_) = ones
    return first.of[0]


def title(name: str) -> str:
    """The heading of a deviation."""
    return f"### {name.replace('_', ' ').capitalize()}\n"


def page(sections: dict[str, str]) -> str:
    """The page, of the sections of all deviations."""
    parts = [HEAD]
    for software in OF:
        names = [name for name, ones in deviations().items() if of(ones) == software]
        if names:
            parts.append(f"\n## {software}\n")
            parts += [f"\n{title(name)}{sections[name]}" for name in names]
    return "".join(parts)


def written() -> dict[str, str]:
    """The sections of the page as it is."""
    if not PAGE.exists():
        return {}
    text = re.sub(r"^## .*\n\n", "", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    names = {title(name).strip(): name for name in deviations()}
    parts = re.split(r"^(### .*)\n", text, flags=re.MULTILINE)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {names[head]: body.rstrip("\n") + "\n" for head, body in pairs if head in names}


def told(name: str, ones: list[Legalization]) -> str:
    """The part of a section that does not depend on a run."""
    work = ", ".join(f"`{one.name}`" for one in ones)
    docs = textwrap.fill(" ".join((ones[0].build.__doc__ or "").split()), 100)
    if ones[0].fatal:
        return f"\n{docs}\n\n- {ones[0].fatal}; there is no program here\n- irax: {work}\n"
    one = Reproduction.read(name)
    expected = one.specification or "the program is one of StableHLO: all constraints hold"
    issue = [f"- issue: {one.issue}"] if one.issue else []
    inputs = [f"- input: `{x}`" for x in one.inputs]
    lines = [f"- expected: {expected}", *issue, f"- irax: {work}", *inputs]
    program = re.sub(r"^//.*\n", "", one.text, flags=re.MULTILINE).strip()
    why = textwrap.fill(one.why, 100)
    return f"\n{why}\n\n" + "\n".join(lines) + f"\n\n```mlir\n{program}\n```\n"


def section(name: str, ones: list[Legalization]) -> str:
    """A section, with what a run gives."""
    if ones[0].fatal:
        return told(name, ones)
    one, lines = Reproduction.read(name), []
    for target in one.targets:
        found = alone(one, target)
        lines.append(_seen(target, found))
        if found.outcome == "right" and target in ALONE:
            lines.append(_seen(f"{target}, with irax's flags", observed(one, target, LIMIT)))
    return f"{told(name, ones)}\n{''.join(lines)}"


ALONE = {"iree-cpu": "llvm-cpu", "iree-vulkan": "vulkan-spirv"}
"""The targets whose compiler is tried as it is, without what irax does between its phases."""


def alone(one: Reproduction, target: str) -> Observed:
    """Run a program on a target by the target's compiler alone, as far as there is a way to."""
    if target not in ALONE or "custom_call" in one.text:
        return observed(one, target, LIMIT)
    arguments = one.arguments()
    right = tuple(Evaluator(mlir.parse_module(one.text))("main", arguments))
    peer = Peer(sys.executable, ALONE[target])
    found = peer(one.text, arguments)
    peer.close()
    if isinstance(found, str):
        return Observed("refused", found)
    pairs = zip(found, right, strict=True)
    is_right = all(is_near(x, y, one.tolerance) for x, y in pairs)
    return Observed("right" if is_right else "wrong", "", right, tuple(found))


def _seen(target: str, found: Observed) -> str:
    software, package = PACKAGES[target.partition("-")[0] if target != "tpu" else "pjrt"]
    where = f"{software} ({package} {metadata.version(package)}), {target.removeprefix('iree-')}"
    if target == "tpu":
        where = "XLA, TPU"
    if found.outcome == "wrong":
        return f"- {where}: {_values(found.found)}, right: {_values(found.right)}\n"
    if found.outcome == "refused":
        return f"- {where}: refused: `{_first_error(found.error)}`\n"
    return f"- {where}: {found.outcome}\n"


def _values(arrays: Iterable[np.ndarray]) -> str:
    shown = [np.array2string(x.reshape(-1)[:8], separator=", ", max_line_width=500) for x in arrays]
    more = ", ..." if any(x.size > 8 for x in arrays) else ""
    return ", ".join(f"`{x}`" for x in shown) + more


def _first_error(text: str) -> str:
    """The compiler's first words about what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("IREE could not compile")]
    errors = [line for line in lines if "error:" in line] or lines[:1] or ["no message"]
    return re.sub(r"^.*?error: ", "", errors[0]).replace("`", "'")[:200]


def main() -> None:
    """Write the page."""
    known, there = deviations(), written()
    for name in sys.argv[1:] or known:
        print(name, flush=True)
        there[name] = section(name, known[name])
    PAGE.write_text(page(there), "utf-8")


if __name__ == "__main__":
    main()
