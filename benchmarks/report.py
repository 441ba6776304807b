"""Results as text: a line for each program, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.results import Measured, Results, Row, became_slower, geometric_mean, slower

LIMIT, MEMORY_LIMIT = 1.2, 1.1
"""The ratios of time and of memory above which a program is named."""

NAME = 38


def head(also: str | None = None) -> str:
    """The line above all others."""
    columns = f"{'irax us':>12}{'min':>12}{'jax us':>12}{'min':>12}{'ratio':>8}"
    columns += f"{'compile s':>11}{'jax s':>8}{'MB':>9}{'jax MB':>9}"
    return f"{'program':{NAME}}{columns}" + (f"{also:>12} us" if also else "")


def line(row: Row) -> str:
    """The line of a program."""
    text = f"{row.name:{NAME}}"
    if row.irax is None:
        return f"{text}  {row.failure}"
    ratio = row.ratio()
    text += _times(row.irax) + _times(row.jax)
    text += f"{ratio:8.2f}" if ratio else f"{'':8}"
    text += f"{row.irax.compiling:11.2f}" + (f"{row.jax.compiling:8.2f}" if row.jax else f"{'':8}")
    text += _megabytes(row.irax) + _megabytes(row.jax)
    if row.also is not None:
        text += f"{row.also.median * 1e6:15.1f}"
    return f"{text}  {row.failure}".rstrip()


def _times(measured: Measured | None) -> str:
    if measured is None:
        return " " * 24
    return f"{measured.median * 1e6:12.1f}{measured.minimum * 1e6:12.1f}"


def _megabytes(measured: Measured | None) -> str:
    known = measured is not None and measured.memory is not None
    return f"{measured.memory / 1e6:9.2f}" if known else f"{'':9}"  # pyright: ignore


def summary(results: Results) -> Iterator[str]:
    """The geometric means of families and of all, and the programs above the limit."""
    yield f"{'family':16}{'programs':>9}{'median':>8}{'minimum':>9}{'memory':>8}{'compile':>9}"
    groups = results.families()
    for name, rows in (*groups.items(), ("all", results.rows)):
        means = [geometric_mean(rows, of) for of in ("median", "minimum", "memory", "compiling")]
        cells = ["" if mean is None else f"{mean:.2f}" for mean in means]
        yield f"{name:16}{len(rows):9}{cells[0]:>8}{cells[1]:>9}{cells[2]:>8}{cells[3]:>9}"
    for of, what, limit in (("median", "time", LIMIT), ("memory", "memory", MEMORY_LIMIT)):
        above = slower(results.rows, limit, of)
        yield ""
        yield f"{len(above)} take more than {limit} times JAX's {what}" + (":" if above else "")
        yield from (f"  {row.name:{NAME}}{row.ratio(of):8.2f}" for row in above)
    failed = [row for row in results.rows if row.failure]
    if failed:
        yield ""
        yield f"{len(failed)} failed:"
        yield from (f"  {row.name:{NAME}}{row.failure}" for row in failed)


def comparison(results: Results, before: Results, factor: float) -> Iterator[str]:
    """The programs that are slower than in an earlier run, and those that fail since."""
    found = became_slower(results.rows, before.rows, factor)
    yield f"{len(found)} became slower than on {before.machine['date']} by more than {factor}"
    earlier = {row.name: row for row in before.rows}
    for row, growth in found:
        was = earlier[row.name]
        yield f"  {row.name:{NAME}}{growth:7.2f} times: irax {_change(was.irax, row.irax)}" + (
            f", jax {_change(was.jax, row.jax)}" if was.jax and row.jax else ""
        )
    broken = [r.name for r in results.rows if r.failure and not _failure(earlier, r.name)]
    if broken:
        yield f"failing since then: {', '.join(broken)}"


def _change(before: Measured | None, now: Measured | None) -> str:
    assert before is not None
    assert now is not None
    return f"{before.median * 1e6:.1f} to {now.median * 1e6:.1f} us"


def _failure(rows: dict[str, Row], name: str) -> str:
    return rows[name].failure if name in rows else ""
