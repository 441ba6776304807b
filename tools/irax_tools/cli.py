"""The `irax` command: what it takes and prints. The work is done elsewhere, imported when needed,
so that `irax --help` does not wait for a compiler.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class Command(click.Group):
    """Prints errors as one clear line, and exits with 1 (click itself exits with 2 for misuse)."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"irax: error: {error}", err=True)
            ctx.exit(1)


@click.group(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="irax", message="irax %(version)s")
@click.option("--debug", is_flag=True, help="Show Python's traceback when a command fails.")
def main(debug: bool) -> None:
    """Differentiate, batch, compile and run StableHLO.

    A MODULE is a file of MLIR text or bytecode, or - for standard input.
    """


func_option = click.option(
    "--func", metavar="NAME", help="The function of the module.  [default: main]"
)


@main.command()
@click.argument("source", metavar="MODULE|FILE.py:FUNCTION")
@click.option(
    "--args",
    "arguments",
    metavar="ARGS",
    help='The types a Python function is traced with: "f32[8,64], i32[8]". Pytrees are written as '
    "Python literals: \"{'w': f32[64,10]}, f32[8,64]\".",
)
@click.option("--stage", help="Print this stage alone: traced, or the name of a pass.")
@click.option("--pipeline", help="The passes to show, instead of those that lower for the target.")
@click.option("--target", default="iree-cpu", show_default=True, help="What to lower for.")
@click.option("--locations", is_flag=True, help="Show each operation's source location.")
@func_option
def show(
    source: str,
    arguments: str | None,
    stage: str | None,
    pipeline: str | None,
    target: str,
    locations: bool,
    func: str | None,
) -> None:
    """Print a function's module as traced, and after each pass.

    Example: irax show examples/digits.py:predict --args "f32[64,10], f32[8,64]" --stage traced
    """
    from irax_tools import modules

    stages = modules.stages(source, arguments, func, pipeline, target)
    names = [name for name, _ in stages]
    if stage is not None and not any(modules.stage_matches(stage, name) for name in names):
        raise click.UsageError(f"no stage {stage!r}; there are {', '.join(names)}")
    for name, module in stages:
        if stage is None:
            click.echo(f"// ---- {name} ----")
        if stage is None or modules.stage_matches(stage, name):
            click.echo(modules.text(module, locations).rstrip() + "\n")
            if stage is not None:
                break


@main.command()
@click.argument("module", metavar="MODULE", default="-")
@click.option("--pipeline", default="", help='Passes, such as "vjp{func=main wrt=0},cse".')
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write.  [default: -]")
@click.option("--list-passes", is_flag=True, help="List irax's passes and their options.")
@click.option("--locations", is_flag=True, help="Write each operation's source location.")
def opt(module: str, pipeline: str, output: str, list_passes: bool, locations: bool) -> None:
    """Run passes, irax's and MLIR's, on a StableHLO module.

    Example: irax opt in.mlir --pipeline "vjp{func=main wrt=0},canonicalize,cse"
    """
    from irax_tools import modules

    if list_passes:
        for line in modules.describe_passes():
            click.echo(line)
        return
    from irax_compiler.pipeline import run_pipeline

    parsed = modules.read_module(module)
    run_pipeline(parsed, pipeline)
    modules.write_file(output, modules.text(parsed, locations))


@main.command("compile")
@click.argument("module", metavar="MODULE")
@click.option("-o", "--output", metavar="FILE", required=True, help="Where to write.")
@click.option(
    "--target",
    default="iree-cpu",
    show_default=True,
    help="What to compile for: iree-cpu, or pjrt, whose plugins compile StableHLO themselves.",
)
@func_option
def compile_(module: str, output: str, target: str, func: str | None) -> None:
    """Compile a module to a .vmfb that `irax run` and IREE's runtime load, or to a .pjrt.

    Example: irax compile model.mlir -o model.vmfb
    """
    from irax_tools import modules

    modules.write_file(output, modules.compile_module(module, func, target))


@main.command()
@click.argument("program", metavar="MODULE|FILE.vmfb|FILE.pjrt")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="FILE.npy|TYPE=VALUES",
    help="An argument, in order: x.npy, 4x4xf32=1 (all ones), or 3xf32=1,2,3.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE.npy",
    help="Where to save a result, in order; without it, results are printed.",
)
@click.option(
    "--device",
    metavar="PLATFORM|reference",
    default="cpu",
    show_default=True,
    help="The platform (`irax devices` lists them), or the NumPy evaluator.",
)
@click.option("--repeat", default=1, show_default=True, help="Run so often, and print the times.")
@func_option
def run(
    program: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    device: str,
    repeat: int,
    func: str | None,
) -> None:
    """Run a function of a module or of a compiled program.

    Example: irax run model.mlir --input x.npy --input 4xf32=1
    """
    if repeat < 1:
        raise click.UsageError("--repeat must be at least 1")
    from irax_tools import arrays, modules

    operands = [arrays.parse_input(text) for text in inputs]
    call: Callable[..., Any] = modules.load_program(program, func, device)
    times = []
    results: list[Any] = []
    for _ in range(repeat):
        start = time.perf_counter()
        results = call(operands)
        times.append(time.perf_counter() - start)
    if outputs and len(outputs) != len(results):
        raise click.UsageError(
            f"the function has {len(results)} results, got {len(outputs)} --output"
        )
    for i, result in enumerate(results):
        if outputs:
            arrays.save(outputs[i], result)
        else:
            click.echo(f"{arrays.describe(result)}\n{result}")
    if repeat > 1:
        times.sort()
        click.echo(
            f"{repeat} runs: min {times[0] * 1e6:.1f} us, median "
            f"{times[len(times) // 2] * 1e6:.1f} us, max {times[-1] * 1e6:.1f} us",
            err=True,
        )


@main.command()
def devices() -> None:
    """List the devices there are, and what is missing for the others.

    Example: irax devices
    """
    from irax_runtime.devices import describe

    for line in describe():
        click.echo(line)


if __name__ == "__main__":
    sys.exit(main(prog_name=Path(sys.argv[0]).name))
