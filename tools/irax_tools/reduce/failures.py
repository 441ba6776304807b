"""The smallest function for which a property of `irax check` fails as it did."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_tools import checking, children
from irax_tools.checking import Changed, Row
from irax_tools.files import write_file
from irax_tools.programs import argument_types
from irax_tools.reduce import report
from irax_tools.reduce.search import Fails, Search
from irax_tools.sources import Source

_SEEDS = 4
"""The number of random inputs to try where a function takes others than the first one did: few
elements are less likely to show what many did."""


def fails_alike(row: Row, func: str, changed: Changed, limit: float | None) -> Fails:
    """Return a test: does the property fail for a module as the row says? On the row's inputs where
    the function takes such, or else on random ones. What takes much longer than that did has lost
    its end.
    """
    if row.kind != "time":
        limit = children.enough(row.seconds, limit)

    def fails(text: str) -> bool:
        try:
            found = _again(row, Source(mlir.parse_module(text), func), changed, limit)
        except Exception:  # a module that nothing else would make fails in ways of its own
            return False
        return (found.outcome, found.kind) == (row.outcome, row.kind)

    return fails


def _again(row: Row, source: Source, changed: Changed, limit: float | None) -> Row:
    """Try the property of a row for another function."""
    if _takes(source, row.inputs):
        return checking.try_alone(row.name, source, [row.seed], row.inputs, changed, limit)
    seeds = range(row.seed, row.seed + _SEEDS)
    return checking.try_alone(row.name, source, seeds, None, changed, limit)


def _takes(source: Source, inputs: Sequence[np.ndarray[Any, Any]]) -> bool:
    return argument_types(source) == [(x.shape, x.dtype) for x in inputs]


def save_shortest(
    source: Source, row: Row, changed: Changed, limit: float | None, name: str
) -> None:
    """Write the shortest beginning of a function that fails, as NAME.mlir, and its inputs, as
    NAME.npz.
    """
    search = Search(source.module, source.func, fails_alike(row, source.func, changed, limit))
    _write(search.shorten(), row, row.inputs, name)


def save_smallest(
    source: Source,
    row: Row,
    changed: Changed,
    limit: float | None,
    seconds: float,
    name: str,
    tell: Callable[[str], None],
) -> None:
    """Write the smallest module that fails, as NAME.mlir, its inputs, as NAME.npz, and a report,
    as NAME.md, after a search of at most so many seconds.
    """
    fails = fails_alike(row, source.func, changed, limit)
    smallest = Search(source.module, source.func, fails, seconds, tell).run()
    found = Source(smallest, source.func)
    again = _again(row, found, changed, limit)
    _write(smallest, again, again.inputs, name)
    write_file(f"{name}.md", report.of_check(found, again, changed, again.inputs, name))


def _write(
    module: mlir.Module, row: Row, inputs: Sequence[np.ndarray[Any, Any]], name: str
) -> None:
    text = mlir.text_of(module.operation)
    write_file(f"{name}.mlir", f"// {row.name}: {row.detail}\n{text}")
    data = io.BytesIO()
    np.savez(data, *inputs)
    write_file(f"{name}.npz", data.getvalue())
