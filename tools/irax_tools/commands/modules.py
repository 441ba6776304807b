"""Commands that show and rewrite modules."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from irax_tools import options

if TYPE_CHECKING:
    from irax_tools.show.record import Recorder


@options.command(
    summary="Show a function as traced, and after each pass.",
    example='irax show function.py:f --args "f32[4], f32[4]" --html f.html',
)
@options.source
@options.arguments
@click.option(
    "--html", metavar="FILE", help="Write a page with all stages, which needs no network."
)
@click.option("--open", "opens", is_flag=True, help="Show the page in a browser.")
@click.option(
    "--stage",
    help="Print this stage alone: traced, or the name of a pass. With --html, open the page on it.",
)
@click.option("--grad", is_flag=True, help="Show how its gradient is derived, and lower that.")
@options.wrt
@click.option("--vmap", metavar="SIZE", type=click.IntRange(min=1), help="Map it over lanes.")
@options.in_axes
@click.option("--pipeline", help="The passes to show, instead of those that lower for the device.")
@click.option("--iree", is_flag=True, help="Go on through the phases of IREE's compiler.")
@click.option(
    "--times",
    is_flag=True,
    help="With --html: time the dispatches on the processor, and show them as a flame graph.",
)
@click.option(
    "--sparsity",
    is_flag=True,
    help="Show the pattern of its Jacobian; with --html, as a part of the page.",
)
@click.option(
    "--digits",
    is_flag=True,
    help="Show the digits of its results that hold, and the lines that cost the others.",
)
@options.inputs
@options.inputs_file
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
    opens: bool,
    stage: str | None,
    grad: bool,
    wrt: tuple[int, ...] | None,
    vmap: int | None,
    in_axes: tuple[int | None, ...] | None,
    pipeline: str | None,
    iree: bool,
    times: bool,
    sparsity: bool,
    digits: bool,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    device: str,
    chip: str | None,
    mesh: dict[str, int] | None,
    locations: bool,
    color: str,
    func: str | None,
) -> None:
    """Show a function's module as traced, and after each pass: with the lines that operations come
    from, and what they cost. Constants are shortened; --locations prints plain MLIR.
    """
    if wrt is not None and not (grad or sparsity):
        raise click.UsageError("--wrt goes with --grad or --sparsity")
    if opens and html is None:
        html = os.path.join(tempfile.mkdtemp(prefix="irax-"), "show.html")
    if sparsity and (stage is not None or locations):
        raise click.UsageError("--sparsity goes without --stage and --locations")
    if in_axes is not None and vmap is None:
        raise click.UsageError("--in-axes goes with --vmap")
    if html is not None and locations:
        raise click.UsageError("--html writes a page of all stages: it goes without --locations")
    if html == "-" and opens:
        raise click.UsageError("--open shows a file: give --html its name, or leave it out")
    if times and (html is None or device != "cpu" or pipeline is not None or mesh is not None):
        raise click.UsageError(
            "--times goes with --html and the processor, without --pipeline and --mesh"
        )
    if digits and (locations or mesh is not None):
        raise click.UsageError("--digits goes without --locations and --mesh")
    if (inputs or inputs_file) and not digits:
        raise click.UsageError("--input and --inputs go with --digits")
    from irax_compiler import api
    from irax_tools import arrays, programs, sources
    from irax_tools.show import pages, terminal
    from irax_tools.show.page import html_of
    from irax_tools.show.record import record
    from irax_tools.show.sparsity import matrix_of, text_of
    from irax_tools.show.way import Way

    target = programs.target_of(device, chip)
    if iree and (pipeline is not None or not target.startswith("iree")):
        raise click.UsageError(
            "--iree goes with devices that IREE compiles for, without --pipeline"
        )
    passes = None if pipeline is None else api.parse_pipeline(pipeline)
    way = Way(target, grad, wrt, vmap, in_axes, mesh, passes, iree)
    loaded = sources.load(source, arguments, func, mesh)
    matrix = matrix_of(loaded, way) if sparsity else None
    if matrix is not None and html is None:
        return click.echo(text_of(matrix))
    if locations:
        found = terminal.modules_of(loaded, way)
        return _show_stages(found, stage, options.has_colours(color), None)
    additions: list[Callable[[Recorder], None]] = []
    if times:
        from irax_tools.cost.page import timing

        additions.append(timing(loaded, way, lambda line: click.echo(line, err=True)))
    if digits:
        from irax_tools.show.digits import judging

        additions.append(judging(loaded, way, arrays.of_options(inputs, inputs_file)))
    recorded, failure = record(loaded, way, additions)
    recorded.matrix = matrix
    if html is not None:
        if stage is not None:
            recorded.opens = _place_of(stage, [s.full_name for s in recorded.stages], failure)
        pages.write(html, html_of(recorded), opens)
    else:
        found = terminal.texts_of(recorded)
        _show_stages(found, stage, options.has_colours(color), failure)
    if failure is not None:
        raise failure


def _place_of(stage: str, names: Sequence[str], failure: Exception | None) -> int:
    """Return the place of the stage that is asked for, by its name with or without options."""
    for i, name in enumerate(names):
        if stage in (name, name.partition("{")[0]):
            return i
    raise failure or click.UsageError(f"no stage {stage!r}; there are {', '.join(names)}")


def _show_stages(
    found: list[tuple[str, str]], stage: str | None, colours: bool, failure: Exception | None
) -> None:
    from irax_runtime.printable import printable
    from irax_tools.show.terminal import coloured

    found = [(printable(name), printable(text)) for name, text in found]
    if stage is not None:
        texts = [found[_place_of(stage, [name for name, _ in found], failure)][1]]
    else:
        before = ["", *(text for _, text in found)]
        texts = [
            f"// ---- {name} ----\n{'// nothing changed' if text == was else text}\n"
            for (name, text), was in zip(found, before, strict=False)
        ]
    for text in texts:
        click.echo(coloured(text) if colours else text, color=colours)


@options.command(
    summary="Describe what is in a file, without running it.", example="irax info in.mlir"
)
@click.argument("file", metavar="FILE", default="-")
def info(file: str) -> None:
    """Describe what is in a file, without running any of it: a compiled program, a function that
    irax.export saved, a module, NumPy's arrays.
    """
    from irax_runtime.printable import printable
    from irax_tools.files import read_file
    from irax_tools.info import describe

    for line in describe(read_file(file), file):
        click.echo(printable(line))


@options.command(
    summary="Compare the structure of two modules.",
    example="irax opt in.mlir --cse | irax diff in.mlir -",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
def diff(old: str, new: str) -> None:
    """Compare the structure of two modules: exit with 1 if they differ.

    Locations, names of values and the order of functions make no difference, nor does the order of
    operations that do not read each other's results. Removed operations (-), added (+) and changed
    ones (~) are printed with their lines.
    """
    from irax_runtime.printable import printable
    from irax_tools import sources
    from irax_tools.diff.telling import Written, differences

    if old == "-" and new == "-":
        raise click.UsageError("OLD and NEW are both -: there is one standard input")
    one, other = (Written(path, *sources.read_module(path)) for path in (old, new))
    is_different = False
    for line in differences(one, other):
        click.echo(printable(line))
        is_different = True
    if is_different:
        click.get_current_context().exit(1)


class OptCommand(options.Command):
    """Takes long options after one dash too, as MLIR's tools do: -split-input-file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [self._with_two_dashes(word) for word in args])

    @staticmethod
    def _with_two_dashes(word: str) -> str:
        is_long = len(word) > 2 and word[0] == "-" and word[1].isalpha() and word[1] != "o"
        return f"-{word}" if is_long else word


@click.command(
    "opt",
    OptCommand,
    short_help="Run passes on a module, as mlir-opt does.",
    example='irax opt in.mlir --pipeline "vjp{func=main wrt=0},canonicalize,cse"',
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", metavar="[MODULE] [--PASS ...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--pipeline", "--passes", help='Passes, such as "vjp{func=main wrt=0},cse".')
@click.option("--pass-pipeline", help="The same, as MLIR writes it: builtin.module(cse).")
@options.output
@click.option("--list-passes", is_flag=True, help="List irax's passes and their options.")
@click.option(
    "--split-input-file",
    is_flag=True,
    help="Divide the input into modules at lines `// -----`, and the output too.",
)
@click.option(
    "--verify-diagnostics",
    is_flag=True,
    help="Compare errors, warnings and remarks with comments such as // expected-error {{...}}.",
)
@click.option(
    "--mlir-print-ir-before-all", is_flag=True, help="Print the module before each pass, too."
)
@click.option(
    "--mlir-print-ir-after-all", is_flag=True, help="Print the module after each pass, too."
)
@click.option("--mlir-print-op-generic", is_flag=True, help="Print MLIR's generic form.")
@click.option(
    "--locations",
    "--mlir-print-debuginfo",
    is_flag=True,
    help="Write each operation's source location.",
)
@click.option(
    "--allow-unregistered-dialect",
    is_flag=True,
    help="Always on; accepted because mlir-opt has it.",
)
def opt(
    words: tuple[str, ...],
    pipeline: str | None,
    pass_pipeline: str | None,
    output: str,
    list_passes: bool,
    split_input_file: bool,
    verify_diagnostics: bool,
    mlir_print_ir_before_all: bool,
    mlir_print_ir_after_all: bool,
    mlir_print_op_generic: bool,
    locations: bool,
    allow_unregistered_dialect: bool,
) -> None:
    """Run passes of irax and MLIR on a StableHLO module, as mlir-opt does.

    MODULE is standard input (-) by default. A pass is an option, too: --cse, or
    --vjp="func=main wrt=0". Only the output goes to standard output.
    """
    from irax_compiler import api
    from irax_tools.files import write_file
    from irax_tools.opt import pipelines
    from irax_tools.opt.run import Settings, optimize
    from irax_tools.stages import describe_passes

    if list_passes:
        for line in describe_passes():
            click.echo(line)
        return
    module, named = pipelines.of_words(words)
    given = [text for text in (pipeline, pass_pipeline, named or None) if text is not None]
    if len(given) > 1:
        raise click.UsageError(
            "--pipeline, --pass-pipeline and passes as options: expected one of them"
        )
    settings = Settings(
        api.parse_pipeline(pipelines.of_pipeline(*given)) if given else [],
        split_input_file,
        verify_diagnostics,
        mlir_print_ir_before_all,
        mlir_print_ir_after_all,
        locations,
        mlir_print_op_generic,
    )
    text, is_right = optimize(module, settings, lambda line: click.echo(line, err=True))
    write_file(output, text)
    if not is_right:
        click.get_current_context().exit(1)
