"""Commands about this machine: its devices, its health, and the programs that it keeps."""

from __future__ import annotations

import click

from irax_tools import options


@options.command(example="irax devices")
def devices() -> None:
    """List the devices there are, and what is missing for the others."""
    from irax_runtime.inventory import describe

    for line in describe():
        click.echo(line)


_MARKS = {True: "ok", False: "!!", None: "--"}


@options.command(example="irax doctor")
def doctor() -> None:
    """Say what works here, and what to install for what does not: exit with 1 where irax fails."""
    from irax_tools.doctor import examine

    healthy = True
    for line, works in examine():
        click.echo(f"{_MARKS[works]}  {line}")
        healthy = healthy and works is not False
    if not healthy:
        click.get_current_context().exit(1)


@options.command(example="irax cache prune --size 500MB")
@click.argument("action", type=click.Choice(["info", "list", "prune", "clear"]), default="info")
@click.option(
    "--size",
    help="The size that prune leaves at most, such as 500MB.  [default: the cache's limit]",
)
def cache(action: str, size: str | None) -> None:
    """Describe, list, or remove the compiled programs and kernels that irax keeps: clear removes
    all of them, prune the least recently used.
    """
    import time

    from irax_compiler import cache as kept
    from irax_compiler.iree import kernel_cache

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
        for entry in found:
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
            named = f"  {kernel_cache.label(entry.read())}" if entry.kind == "kernel" else ""
            click.echo(f"{entry.path.name}  {entry.size:10} bytes, used {used}{named}")
        return
    total = sum(entry.size for entry in found) / 2**20
    did = "removed" if removes else f"of at most {limit / 2**20:.0f} MiB"
    programs, kernels = (sum(x.kind == kind for x in found) for kind in ("program", "kernel"))
    click.echo(f"{folder}: {programs} programs, {kernels} kernels, {total:.1f} MiB, {did}")
