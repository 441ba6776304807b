"""Commands about this machine: its devices, its health, and the programs that it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from irax_tools import options

if TYPE_CHECKING:
    from irax_compiler.cache import Entry


@options.command(
    summary="List the devices, and what is missing for others.", example="irax devices"
)
def devices() -> None:
    """List the devices there are, and what is missing for the others."""
    from irax_runtime.inventory import describe

    for line in describe():
        click.echo(line)


_MARKS = {True: "ok", False: "!!", None: "--"}


@options.command(summary="Say what works here, and what to install.", example="irax doctor")
def doctor() -> None:
    """Say what works here, and what to install for what does not: exit with 1 where irax fails."""
    from irax_tools.doctor import examine

    healthy = True
    for line, works in examine():
        click.echo(f"{_MARKS[works]}  {line}")
        healthy = healthy and works is not False
    if not healthy:
        click.get_current_context().exit(1)


def _listed(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a line for each function whose programs are kept, for the kernels of each name, and for
    files of each other kind: those used last at the end.
    """
    import time

    from irax_compiler.iree import kernel_cache

    files: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.kind == "kernel":
            program = kernel_cache.label(entry.read()).partition(":")[0]
            named = f"kernels of {program}"
        else:
            named = entry.about() or f"files of other kinds: {entry.kind}"
        files.setdefault(named, []).append(entry)
    for named, own in sorted(files.items(), key=lambda pair: max(x.used for x in pair[1])):
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(max(x.used for x in own)))
        count = f"{len(own)} file{'s' if len(own) > 1 else ''}"
        yield f"{used}  {_size(sum(x.size for x in own)):>7} in {count:9} {named}"


def _size(count: int) -> str:
    """Return a number of bytes as text: 812 B, 3.1 kB, 45 MB."""
    size, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1000
    return f"{size:.{1 if unit != 'B' and size < 9.95 else 0}f} {unit}"


@options.command(
    summary="List or remove the compiled programs that irax keeps.",
    example="irax cache prune --size 500MB",
)
@click.argument("action", type=click.Choice(["info", "list", "prune", "clear"]), default="info")
@click.option(
    "--size",
    help="The size that prune leaves at most, such as 500MB.  [default: the cache's limit]",
)
def cache(action: str, size: str | None) -> None:
    """List or remove the compiled programs that irax keeps.

    `info` tells how many there are, and where. `list` has a line for each function: when it was
    last used, the size of its files, its file and line, and the types of its arguments. `clear`
    removes all, `prune` the least recently used.
    """
    from irax_compiler import cache as kept

    folder = kept.directory()
    if folder is None:
        click.echo(f"none are kept: {kept.why_none_are_kept()}")
        return
    if size is not None and action != "prune":
        raise click.UsageError(f"--size is an option of prune; {action} takes none")
    try:
        limit = kept.size_limit()
        least = limit if size is None else kept.size(size)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    removes = action in ("prune", "clear")
    found = kept.prune(0 if action == "clear" else least) if removes else kept.entries()
    if action == "list":
        for line in _listed(found):
            click.echo(line)
        return
    total = sum(entry.size for entry in found) / 2**20
    did = "removed" if removes else f"of at most {limit / 2**20:.0f} MiB"
    programs, kernels = (sum(x.kind == kind for x in found) for kind in ("program", "kernel"))
    click.echo(f"{folder}: {programs} programs, {kernels} kernels, {total:.1f} MiB, {did}")
