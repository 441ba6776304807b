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
def cost(
    source: str,
    arguments: str | None,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    func: str | None,
    plot: str | None,
    anew: bool,
) -> None:
    """Print what each dispatch of a function computes on the processor, the time that it takes, and
    the time that it should take.

    A dispatch is a kernel that the compiler made of some operations. Its expected time is that of
    its arithmetic or that of the bytes that it reads and writes, whichever is longer, at the peak
    rates of this machine. These are measured once, and kept in the cache. A dispatch is timed by
    itself, on arrays that are not initialized.
    """
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
