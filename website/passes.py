"""The page of passes: each with its description, its options, and what it makes of a golden file.

Modules after a pass are not written down: the pass runs when the site is built.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from irax_compiler import api, mlir
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.passes.core import PassError
from irax_compiler.pipeline import run_pipeline, split_passes

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
RUN = re.compile(r'^// RUN: --pipeline "(.*)"$', re.MULTILINE)
CHECK = re.compile(r"^// (RUN|CHECK|PROCESSOR).*\n", re.MULTILINE)
FUNCTION = re.compile(r"^(?://[^\n]*\n)*(?:util|func)\.func .*?^}\n", re.DOTALL | re.MULTILINE)
LONGEST = 150
"""The lines of a module that is shown whole."""
ENDS = 60, 20
"""The first and last lines that are shown of a longer one."""


@dataclass(frozen=True)
class Example:
    """A pass with options, a module, and the module after it."""

    text: str
    before: str
    after: str


def pages() -> dict[str, str]:
    """Return the text of the page by its name."""
    shown = examples()
    parts = [
        "# Passes",
        "Each pass of irax, what holds for the module that it leaves, its options, and an example. "
        '`irax opt in.mlir --pipeline "PASS{option=value}"` runs one; passes of MLIR, such as '
        "`cse`, can stand beside them.",
        *(_pass(name, cls, shown.get(name)) for name, cls in sorted(api.passes().items())),
    ]
    return {"reference/passes.md": "\n\n".join(parts) + "\n"}


def examples() -> dict[str, Example]:
    """Return the shortest fitting example of each pass that the golden files have."""
    found: dict[str, Example] = {}
    for path in sorted(GOLDEN.rglob("*.mlir")):
        text = path.read_text("utf-8")
        pipelines = RUN.findall(text)
        for source in _candidates(CHECK.sub("", text).strip() + "\n"):
            for pipeline in pipelines:
                for example in _steps(source, pipeline):
                    name = example.text.partition("{")[0]
                    if name not in found or _order(example) < _order(found[name]):
                        found[name] = example
    return found


def _candidates(text: str) -> list[str]:
    """Return the functions of a file that are modules by themselves, or with what stands before the
    first of them, and the file.
    """
    aliases = re.findall(r"^(#\w+) =", text, re.MULTILINE)
    functions = FUNCTION.findall(text)
    head = text.partition(functions[0])[0] if functions else ""
    known = set(re.findall(r"@[\w.]+", head))
    alone = []
    for f in functions:
        others = set(re.findall(r"@[\w.]+", f)[1:])
        if others <= known and not any(re.search(rf"{alias}\b", f) for alias in aliases):
            alone.append(f"{head}{f}" if others else f)
    return [*alone, text] if alone != [text] else alone


def _steps(source: str, pipeline: str) -> Iterator[Example]:
    """Yield an example for each pass of a pipeline that changes the module."""
    module = mlir.parse_module(source)
    before, shown = str(module), source.strip()
    for text in split_passes(pipeline):
        try:
            run_pipeline(module, text)
        except (PassError, UnsupportedOp):  # it names another function of the file
            return
        after = str(module).strip()
        if after != before.strip() and _lines(shown) <= LONGEST:
            yield Example(text, shown, after)
        before = shown = after


def _lines(text: str) -> int:
    return text.count("\n")


def _order(example: Example) -> tuple[bool, int]:
    before, after = _lines(example.before), _lines(example.after)
    return example.before.count(" = ") < 2, before + after  # two operations say more than one


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= LONGEST:
        return text
    first, last = ENDS
    left_out = f"// {len(lines) - first - last} lines are left out"
    return "\n".join([*lines[:first], left_out, *lines[-last:]])


def _pass(name: str, cls: type, example: Example | None) -> str:
    parts = [f"## {name}", inspect.getdoc(cls) or ""]
    options = [f"| `{f.name}` | `{f.type}` | `{f.default}` |" for f in fields(cls)]
    if options:
        parts.append("| option | type | default |\n|---|---|---|\n" + "\n".join(options))
    if example:
        parts.append(f'`--pipeline "{example.text}"` on\n\n```mlir\n{example.before}\n```')
        parts.append(f"gives\n\n```mlir\n{_shortened(example.after)}\n```")
    return "\n\n".join(parts)
