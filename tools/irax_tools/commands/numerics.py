"""The command that tells how many digits of results hold."""

from __future__ import annotations

import click

from irax_tools import options


@options.command(
    summary="Print how many digits of the results hold, and why.",
    example="irax digits in.mlir --input x.npy --input 4xf32=1 --least 4",
)
@options.source
@options.arguments
@options.inputs
@options.inputs_file
@options.func
@click.option("--compiled", is_flag=True, help="Run the compiled function, too, and judge it.")
@click.option(
    "--least", type=float, metavar="DIGITS", help="Exit with 1 if fewer digits of a result hold."
)
@click.option(
    "--ranges",
    metavar='"x=0..1, y=-5..5"',
    help="Say what may happen for all arguments in ranges, instead of counting digits for one. "
    "Arguments of a Python function have its parameters' names; arg0, arg1, ... are all arrays.",
)
def digits(
    source: str,
    arguments: str | None,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    func: str | None,
    compiled: bool,
    least: float | None,
    ranges: str | None,
) -> None:
    """Print how many digits of a function's results hold, and the lines that cost the others.

    The evaluator runs each operation in its own precision, and beside it in float64, or, where the
    function computes in float64 itself, in decimal numbers. Lines are told by the digits that they
    cost the worst result, with the share of its error that was made there. Arguments are drawn at
    random where none are given.

    With --ranges, intervals bound the numbers of each operation. The command prints which may
    overflow, divide by zero or take a function of a number outside of its domain, with arguments
    that show it where some are found, and exits with 1 if they are.
    """
    from irax_compiler import api
    from irax_tools import arrays, checking, programs, sources

    loaded = sources.load(source, arguments, func)
    given = arrays.of_options(inputs, inputs_file) or loaded.examples
    given = given or list(checking.trial_of(loaded, 0).inputs)
    given = arrays.typed(given, [dtype for _, dtype in programs.argument_types(loaded)])
    programs.check_operands(loaded, given)
    if ranges is not None:
        where = api.range_report(
            loaded.module, loaded.func, given, sources.ranges(ranges, source, arguments, len(given))
        )
        click.echo(str(where))
        if any(hazard.example is not None for hazard in where.hazards):
            raise click.exceptions.Exit(1)
        return
    results = programs.program(loaded, "cpu")(given) if compiled else None
    found = api.precision_report(loaded.module, loaded.func, given, results)
    click.echo(str(found))
    if least is not None and found.digits < least:
        raise click.exceptions.Exit(1)
