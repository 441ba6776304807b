"""Commands that find out whether functions are right, and what makes them fail."""

from __future__ import annotations

import click

from irax_tools import options

_limit = click.option(
    "--limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="A program that takes longer fails.",
)
_seconds = click.option(
    "--seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="The time to search for a smaller module.",
)


@options.command(
    summary="Check properties of a function on random arguments.", example="irax check in.mlir"
)
@options.source
@options.arguments
@options.func
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="The number of random inputs to try.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed of the random inputs."
)
@click.option("--inputs", metavar="FILE.npz", help="Try these arguments, instead of random ones.")
@click.option(
    "--pipeline",
    metavar="PASSES",
    help="Also check that these passes do not change what is computed.",
)
@click.option(
    "--lowering",
    metavar="PASSES",
    help="Compile for the processor after these passes, instead of irax's own.",
)
@click.option(
    "--reduce",
    "reduces",
    is_flag=True,
    help="Search for the smallest module that fails, and write a report about it, NAME.md.",
)
@_limit
@_seconds
@click.option(
    "-o",
    "--output",
    metavar="NAME",
    default="failing",
    show_default=True,
    help="Write the failing case to NAME.mlir and NAME.npz.",
)
def check(
    source: str,
    arguments: str | None,
    func: str | None,
    trials: int,
    seed: int,
    inputs: str | None,
    pipeline: str | None,
    lowering: str | None,
    reduces: bool,
    limit: float,
    seconds: float,
    output: str,
) -> None:
    """Check properties that hold for every function, on random inputs: exit with 1 if one fails.

    The module's text parses to the same module. The compiled function and the evaluator agree.
    Derivatives agree with difference quotients, and reverse mode is the transpose of forward mode.
    The batched function agrees with a loop. An operation that has no rule is reported, and is no
    failure.
    """
    from irax_compiler import api
    from irax_runtime.printable import printable
    from irax_tools import arrays, checking, sources
    from irax_tools.reduce import failures

    loaded = sources.load(source, arguments, func)
    given = None if inputs is None else arrays.load_all(inputs)
    changed = checking.Changed(
        None if pipeline is None else api.parse_pipeline(pipeline),
        None if lowering is None else api.parse_pipeline(lowering),
    )
    rows = []
    for row in checking.check_source(loaded, trials, seed, given, changed, limit):
        click.echo(printable(f"{row.name:26}{row.outcome:10}{row.detail}".rstrip()))
        rows.append(row)
    failed = [row for row in rows if row.outcome == "FAILED"]
    refused = [row for row in rows if row.kind == "CompileError"] if reduces else []
    if not (failed or refused):
        return
    row = (*failed, *refused)[0]
    if reduces:
        failures.save_smallest(loaded, row, changed, limit, seconds, output, _tell)
        written = f"{output}.mlir with {output}.npz: {output}.md is the report"
    else:
        failures.save_shortest(loaded, row, changed, limit, output)
        written = f"{output}.mlir with {output}.npz"
    what = "fails for" if row.outcome == "FAILED" else "is refused for"
    click.echo(f"{row.name} {what} {written}", err=True)
    click.get_current_context().exit(1)


@options.command(
    summary="Search for the smallest module that still fails.",
    example="irax reduce in.mlir --match stablehlo.tanh -o small.mlir -- irax opt {} --simplify",
)
@click.argument("source", metavar="MODULE|FILE.py:FUNCTION")
@click.argument("command", metavar="-- COMMAND ...", nargs=-1, type=click.UNPROCESSED)
@options.arguments
@options.func
@options.output
@click.option(
    "--match",
    metavar="REGEX",
    help="The command fails if its output matches this, whatever its exit code.  [default: it "
    "fails if it ends as it does for MODULE: with the same exit code or signal, or not in time]",
)
@click.option(
    "--slower",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="The command fails if it takes longer than this, and is not ended by a signal.",
)
@_limit
@_seconds
@click.option("--report", metavar="FILE.md", help="Write a report that can be filed.")
def reduce(
    source: str,
    command: tuple[str, ...],
    arguments: str | None,
    func: str | None,
    output: str,
    match: str | None,
    slower: float | None,
    limit: float,
    seconds: float,
    report: str | None,
) -> None:
    """Search for the smallest module for which a command still fails, and write it.

    The file of a module takes the place of {} in the command, or is its last argument. Functions,
    operations, regions, results and arguments are left out, constants and shapes made smaller.
    """
    from irax_compiler import mlir
    from irax_tools import sources
    from irax_tools.files import check_folder, write_file
    from irax_tools.reduce.commands import Test
    from irax_tools.reduce.report import of_command
    from irax_tools.reduce.search import Search

    if not command:
        raise click.UsageError("no command: expected one after --, such as -- irax check {}")
    if match is not None and slower is not None:
        raise click.UsageError("--match and --slower: expected one of them")
    check_folder(output)
    check_folder(report)
    loaded = sources.load(source, arguments, func)
    test = Test(command, limit, match, slower)
    text = mlir.text_of(loaded.module.operation)
    problem = test.begin(text)
    if problem is not None:
        raise click.UsageError(f"{source}: the command does not fail: {problem}")
    smallest = Search(loaded.module, loaded.func, test, seconds, _tell).run()
    text = mlir.text_of(smallest.operation)
    write_file(output, text)
    if report is not None:
        file = "in.mlir" if output == "-" else output
        write_file(report, of_command(smallest, command, test.run(text), file))


def _tell(line: str) -> None:
    click.echo(line, err=True)
