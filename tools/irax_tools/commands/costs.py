"""The command that tells what functions cost on this machine."""

from __future__ import annotations

import click

from irax_tools import options


@options.command(
    summary="Print what each kernel takes, and should take.",
    example="irax cost in.mlir --plot roofline.svg",
)
@options.source
@options.arguments
@options.inputs
@options.inputs_file
@options.func
@click.option("--plot", metavar="FILE.svg", help="Draw a roofline of the dispatches.")
@click.option("--anew", is_flag=True, help="Measure this machine's peak rates again.")
@options.mesh
@click.option(
    "--link",
    metavar="25GB/s,5us",
    help="With --mesh: the rate and the latency of each device's link to the others.",
)
@click.option(
    "--rates",
    metavar="989Tflop/s,3.35TB/s",
    help="With --mesh: what a device computes and moves in a second, if it is not this processor.",
)
def cost(
    source: str,
    arguments: str | None,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    func: str | None,
    plot: str | None,
    anew: bool,
    mesh: dict[str, int] | None,
    link: str | None,
    rates: str | None,
) -> None:
    """Print what each dispatch of a function computes on the processor, the time that it takes, and
    the time that it should take.

    A dispatch is a kernel that the compiler made of some operations. Its expected time is that of
    its arithmetic or that of the bytes that it reads and writes, whichever is longer, at the peak
    rates of this machine. These are measured once, and kept in the cache. A dispatch is timed by
    itself, on arrays that are not initialized.

    With --mesh and --link, print instead how long a function with shardings takes on each device of
    a mesh, and what its collectives send.
    """
    if mesh is not None or link is not None or rates is not None:
        given = {"--plot": plot, "--anew": anew, "--input": inputs, "--inputs": inputs_file}
        _predict(source, arguments, func, mesh, link, rates, [k for k, v in given.items() if v])
        return
    from irax_tools import arrays, checking, sources
    from irax_tools.cost import peaks, table
    from irax_tools.cost.measure import measure
    from irax_tools.files import check_folder, write_file

    check_folder(plot)
    loaded = sources.load(source, arguments, func)
    given = arrays.of_options(inputs, inputs_file) or loaded.examples
    measured = measure(loaded, given or checking.trial_of(loaded, 0).inputs)
    best = peaks.of_machine(measured.driver, anew, lambda line: click.echo(line, err=True))
    for line in table.lines(measured, best):
        click.echo(line)
    if plot is not None:
        from irax_tools.cost.plot import svg

        write_file(plot, svg(measured, best))


def _predict(
    source: str,
    arguments: str | None,
    func: str | None,
    mesh: dict[str, int] | None,
    link: str | None,
    rates: str | None,
    others: list[str],
) -> None:
    """Print what a function costs on each device of a mesh."""
    from irax_tools import sources
    from irax_tools.cost.mesh import Link, Rates, lines, step_of

    if mesh is None or link is None:
        raise click.UsageError("--mesh and --link go together; --rates goes with them")
    if others:
        raise click.UsageError(f"{others[0]} goes without --mesh")
    try:
        between = Link.parse(link)
        of_device = None if rates is None else Rates.parse(rates)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    loaded = sources.load(source, arguments, func, mesh)
    for line in lines(step_of(loaded, mesh, of_device), between):
        click.echo(line)
