"""Writes docs/targets.json: the targets that do not take a function of the tables, and why.

    python -m tests.frontend.target_table

A function is traced with one of its cases, in 32 bits, and lowered for each target of the table of
ops by device. One that is refused is noted with the reason. The reference shows it.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.differential.device_table import DEVICES, reason_of
from tests.frontend import (
    case_checks,
    lax_cases,
    linalg_cases,
    nn_cases,
    numpy_cases,
    scipy_cases,
)
from tests.frontend.numpy_operands import CASES

import irax
from irax_compiler import targets
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp

TABLES = (lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases)
PATH = Path(__file__).parents[2] / "docs" / "targets.json"

Refusals = dict[str, str]
"""For the title of a target the reason why it does not take a function."""


def names() -> list[str]:
    """The functions that have a case that can be traced."""
    return sorted({case.full_name for case in CASES if case.traced})


def refusals(name: str) -> Refusals:
    """The targets that do not take a function."""
    there = [case for case in CASES if case.full_name == name and case.traced]
    case = there[len(there) // 2]
    call, arrays = case_checks.bound(case, 0)
    ir = irax.make_ir(lambda *given: call(case.function, given))(*arrays)
    found = {}
    for device in DEVICES:
        try:
            lowered = lower(ir.module, ir.func, device.target)
            if device.target in ("pjrt", "tpu"):
                targets.compile(lowered, device.target)
        except UnsupportedOp as error:
            found[device.title] = reason_of(str(error)).partition("\n")[0]
    return found


def table() -> dict[str, Refusals]:
    """Return the refusals of all functions."""
    return {name: refusals(name) for name in names()}


def main() -> None:
    """Write the file."""
    PATH.write_text(json.dumps(table(), indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
