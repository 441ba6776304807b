"""The command that tells how many digits of results hold."""

from __future__ import annotations

import click

from irax_tools import options


@options.command(example="irax digits in.mlir --input x.npy --input 4xf32=1 --least 4")
@options.source
@options.arguments
@options.inputs
@options.inputs_file
@options.func
@click.option("--compiled", is_flag=True, help="Run the compiled function, too, and judge it.")
@click.option(
    "--least", type=float, metavar="DIGITS", help="Exit with 1 if fewer digits of a result hold."
)
def digits(
    source: str,
    arguments: str | None,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    func: str | None,
    compiled: bool,
    least: float | None,
) -> None:
    """Print how many digits of a function's results hold, and the lines that cost the others.

    The evaluator runs each operation in its own precision, and beside it in float64, or, where the
    function computes in float64 itself, in decimal numbers. Lines are told by the digits that they
    cost the worst result, with the share of its error that was made there. Arguments are drawn at
    random where none are given.
    """
    from irax_compiler import api
    from irax_tools import arrays, checking, programs, sources

    loaded = sources.load(source, arguments, func)
    given = arrays.of_options(inputs, inputs_file) or loaded.examples
    given = given or list(checking.trial_of(loaded, 0).inputs)
    given = arrays.typed(given, [dtype for _, dtype in programs.argument_types(loaded)])
    programs.check_operands(loaded, given)
    results = programs.program(loaded, "cpu")(given) if compiled else None
    found = api.precision_report(loaded.module, loaded.func, given, results)
    click.echo(str(found))
    if least is not None and found.digits < least:
        raise click.exceptions.Exit(1)
