"""The functions that a program jits, on one page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click

from irax.compat.running import run
from irax.execution.diagnostics import watched
from irax.execution.diagnostics.watched import Calls
from irax_tools.show import pages
from irax_tools.show.model import Called, Page
from irax_tools.show.page import html_of
from irax_tools.show.record import record
from irax_tools.show.way import Way
from irax_tools.sources import Source

MOST = 20
"""The most functions of a page: those that took the most time."""


def run_shown(arguments: Sequence[str], path: str, opens: bool) -> None:
    """Run a program as `irax python` does, and write the page of all functions that it jitted and
    called, also where it ends by an error.

    Raises:
        SystemExit: the program ended by it.
    """
    options = ["--show", path, *(["--open"] if opens else [])]
    with watched.programs() as calls:
        try:
            run(arguments, again=["-m", "irax_tools.cli", "python", *options])
        finally:
            sys.stdout.flush()
            write(calls.values(), path, opens)


def write(calls: Iterable[Calls], path: str, opens: bool) -> None:
    """Write the page of programs and their calls, if there are any."""
    longest = sorted(calls, key=lambda c: -(c.seconds + _making(c)))
    if not longest:
        click.echo("irax python --show: the program called no jitted function", err=True)
        return
    pages.write(path, html_of(*map(_page, longest[:MOST])), opens)
    if len(longest) > MOST:
        click.echo(f"It has the {MOST} of {len(longest)} functions that took longest", err=True)


def _page(calls: Calls) -> Page:
    traced = calls.program.traced
    source = Source(traced.builder.module, traced.name, is_traced=True)
    page, _ = record(source, Way())
    page.called = Called(calls.count, calls.seconds, _making(calls))
    return page


def _making(calls: Calls) -> float:
    """The time that tracing and compiling took, in seconds."""
    return sum(s.seconds for s in calls.program.spans if s.kind in ("trace", "compile"))
