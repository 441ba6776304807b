"""Commands that show, rewrite and check modules."""

from __future__ import annotations

import click

from irax_tools import options


@options.command(example='irax show function.py:f --args "f32[4], f32[4]" --html f.html')
@options.source
@options.arguments
@click.option(
    "--html", metavar="FILE", help="Write a page with all stages, which needs no network."
)
@click.option("--stage", help="Print this stage alone: traced, or the name of a pass.")
@click.option("--grad", is_flag=True, help="Show how its gradient is derived, and lower that.")
@options.wrt
@click.option("--vmap", metavar="SIZE", type=click.IntRange(min=1), help="Map it over lanes.")
@options.in_axes
@click.option("--pipeline", help="The passes to show, instead of those that lower for the device.")
@click.option("--iree", is_flag=True, help="Go on through the phases of IREE's compiler.")
@options.compiled_for
@options.chip
@options.mesh
@options.locations
@options.color
@options.func
def show(
    source: str,
    arguments: str | None,
    html: str | None,
    stage: str | None,
    grad: bool,
    wrt: tuple[int, ...] | None,
    vmap: int | None,
    in_axes: tuple[int | None, ...] | None,
    pipeline: str | None,
    iree: bool,
    device: str,
    chip: str | None,
    mesh: dict[str, int] | None,
    locations: bool,
    color: str,
    func: str | None,
) -> None:
    """Show a function's module as traced, and after each pass: with the lines that operations come
    from, and what they cost. Constants are shortened; with --locations MLIR is as it is.
    """
    if wrt is not None and not grad:
        raise click.UsageError("--wrt goes with --grad")
    if in_axes is not None and vmap is None:
        raise click.UsageError("--in-axes goes with --vmap")
    if html is not None and (stage is not None or locations):
        raise click.UsageError("--html writes all stages: it goes without --stage and --locations")
    from irax_compiler import api
    from irax_tools import programs, sources
    from irax_tools.files import write_file
    from irax_tools.show import terminal
    from irax_tools.show.page import html_of
    from irax_tools.show.record import record
    from irax_tools.show.way import Way

    target = programs.target_of(device, chip)
    if iree and (pipeline is not None or not target.startswith("iree")):
        raise click.UsageError(
            "--iree goes with devices that IREE compiles for, without --pipeline"
        )
    passes = None if pipeline is None else api.parse_pipeline(pipeline)
    way = Way(target, grad, wrt, vmap, in_axes, mesh, passes, iree)
    loaded = sources.load(source, arguments, func, mesh)
    if locations:
        found = terminal.modules_of(loaded, way)
        return _show_stages(found, stage, options.has_colours(color), None)
    recorded, failure = record(loaded, way)
    if html is not None:
        write_file(html, html_of(recorded))
    else:
        found = terminal.texts_of(recorded)
        _show_stages(found, stage, options.has_colours(color), failure)
    if failure is not None:
        raise failure


def _show_stages(
    found: list[tuple[str, str]], stage: str | None, colours: bool, failure: Exception | None
) -> None:
    from irax_runtime.printable import printable
    from irax_tools.show.terminal import coloured

    found = [(printable(name), printable(text)) for name, text in found]
    chosen = [text for name, text in found if stage in (name, name.partition("{")[0])]
    if stage is not None and not chosen:
        names = ", ".join(name for name, _ in found)
        raise failure or click.UsageError(f"no stage {stage!r}; there are {names}")
    texts = chosen[:1]
    if stage is None:
        before = ["", *(text for _, text in found)]
        texts = [
            f"// ---- {name} ----\n{'// nothing changed' if text == was else text}\n"
            for (name, text), was in zip(found, before, strict=False)
        ]
    for text in texts:
        click.echo(coloured(text) if colours else text, color=colours)


@options.command(example="irax info in.mlir")
@click.argument("file", metavar="FILE", default="-")
def info(file: str) -> None:
    """Tell what is in a file, without running any of it: a compiled program, a function that
    irax.export saved, a module, NumPy's arrays.
    """
    from irax_runtime.printable import printable
    from irax_tools.files import read_file
    from irax_tools.info import describe

    for line in describe(read_file(file), file):
        click.echo(printable(line))


@options.command(example='irax opt in.mlir --pipeline "vjp{func=main wrt=0},canonicalize,cse"')
@click.argument("module", metavar="MODULE", default="-")
@click.option("--pipeline", default="", help='Passes, such as "vjp{func=main wrt=0},cse".')
@options.output
@click.option("--list-passes", is_flag=True, help="List irax's passes and their options.")
@options.locations
def opt(module: str, pipeline: str, output: str, list_passes: bool, locations: bool) -> None:
    """Run passes, irax's and MLIR's, on a StableHLO module."""
    from irax_compiler import mlir
    from irax_tools import sources
    from irax_tools.files import write_file
    from irax_tools.stages import describe_passes

    if list_passes:
        for line in describe_passes():
            click.echo(line)
        return
    from irax_compiler import api

    parsed = sources.read_module(module)
    api.run_pipeline(parsed, pipeline)
    write_file(output, mlir.text_of(parsed.operation, locations))


@options.command(example="irax check in.mlir")
@options.source
@options.arguments
@options.func
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many random inputs to try.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which random inputs.")
@click.option("--inputs", metavar="FILE.npz", help="Try these arguments, instead of random ones.")
@click.option(
    "-o",
    "--output",
    metavar="NAME",
    default="failing",
    show_default=True,
    help="The smallest failing case becomes NAME.mlir and NAME.npz.",
)
def check(
    source: str,
    arguments: str | None,
    func: str | None,
    trials: int,
    seed: int,
    inputs: str | None,
    output: str,
) -> None:
    """Try what must hold for any function, on random inputs: exit with 1 where it does not.

    Its text says what it is; compiled it computes what it does in the evaluator; derivatives are
    limits of difference quotients, reverse mode is the transpose of forward mode; batched it does
    what it does in a loop. What has no rule is told, and is no failure.
    """
    from irax_runtime.printable import printable
    from irax_tools import arrays, checking, sources

    loaded = sources.load(source, arguments, func)
    given = None if inputs is None else arrays.load_all(inputs)
    failed = []
    for row in checking.check_source(loaded, trials, seed, given):
        click.echo(printable(f"{row.name:26}{row.outcome:10}{row.detail}".rstrip()))
        if row.outcome == "FAILED":
            failed.append(row)
    if failed:
        checking.save_smallest(loaded, failed[0], output)
        click.echo(f"{failed[0].name} fails for {output}.mlir with {output}.npz", err=True)
        click.get_current_context().exit(1)
