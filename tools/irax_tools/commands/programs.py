"""Commands that compile and run programs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from irax_tools import options

if TYPE_CHECKING:
    from irax_tools.sources import Source


@options.command(
    "compile",
    summary="Compile a function to a file that runs by itself.",
    example="irax compile in.mlir --device cuda --chip sm_89 -o model.vmfb",
)
@options.source
@options.arguments
@click.option("-o", "--output", metavar="FILE", required=True, help="Where to write.")
@options.compiled_for
@options.chip
@options.mesh
@options.topology
@options.hlo
@options.phases
@options.func
@click.option(
    "--no-blas",
    is_flag=True,
    help="Multiply matrices by IREE's own code: the program for the processor then needs no "
    "package but irax_runtime's.",
)
@click.option(
    "--save-stages",
    metavar="DIR",
    help="Write the module after each pass, and after each phase of IREE's compiler, too.",
)
@click.option(
    "--from-stage",
    metavar="FILE",
    help="Go on from one of these files, edited or not, instead of from a MODULE.",
)
def compile_(
    source: str,
    arguments: str | None,
    output: str,
    device: str,
    chip: str | None,
    mesh: dict[str, int] | None,
    topology: str | None,
    hlo: str | None,
    phases: bool,
    func: str | None,
    no_blas: bool,
    save_stages: str | None,
    from_stage: str | None,
) -> None:
    """Compile a function to a .vmfb that `irax run` and IREE's runtime load, to a .pjrt, or to an
    .irax, which keeps the pytrees of a Python function for irax_runtime.load.
    """
    from irax_tools import programs, sources
    from irax_tools.files import write_file

    target = programs.target_of(device, chip)
    if no_blas:
        from irax_compiler import blas

        os.environ[blas.VARIABLE] = "off"
    if from_stage is not None:
        if source != "-" or save_stages is not None:
            raise click.UsageError("--from-stage goes without a MODULE and --save-stages")
        with programs.phases_told(phases):
            write_file(output, programs.compile_from_stage(from_stage))
        return
    if output.endswith(".irax") and mesh is not None:
        raise click.UsageError("--mesh goes with .vmfb and .pjrt: an .irax is of one device")

    def load() -> Source:
        loaded = sources.load(source, arguments, func, mesh)
        return loaded if mesh is None else sources.of_each_device(loaded, mesh, target)

    if save_stages is not None:
        from irax_tools import dumps

        dumps.save_stages(load(), target, save_stages)
    if output.endswith(".irax"):
        from irax_runtime import exported
        from irax_tools.exporting import export_source

        platform = device if chip is None else f"{device}:{chip}"
        with programs.phases_told(phases):
            write_file(output, export_source(source, arguments, func, platform).write_to)
        if output != "-":
            needed = exported.needs(output).replace("blas=False", "--no-blas")
            click.echo(f"{output}: {needed}", err=True)
        return
    if hlo is not None and topology is None:
        raise click.UsageError("--hlo: expected with --topology, whose compiler writes it")
    if topology is None:
        with programs.phases_told(phases):
            write_file(output, programs.compile_source(load(), target))
        return
    if not programs.is_for_plugins(target):
        raise click.UsageError(f"--topology {topology}: expected with --device tpu or pjrt:NAME")
    from irax_tools import topologies

    with programs.phases_told(phases):
        compiled = topologies.compile_for(load(), device.removeprefix("pjrt:"), topology)
    write_file(output, compiled.serialize())
    for line in topologies.report(compiled):
        click.echo(line, err=True)
    if hlo is not None:
        write_file(hlo, compiled.optimized_hlo())


@options.command(
    summary="Run a function of a module or a compiled program.",
    example="irax run in.mlir --input x.npy --input 4xf32=1 --output y.npy",
)
@click.argument("program", metavar="MODULE|FILE.py:FUNCTION|FILE.vmfb|.pjrt|.irax", default="-")
@options.arguments
@options.inputs
@options.inputs_file
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE.npy",
    help="Where to save a result, in order; without it, results are printed.",
)
@click.option(
    "-o", "--outputs", "outputs_file", metavar="FILE.npz", help="Where to save all results."
)
@click.option("--shape", is_flag=True, help="Print the results' types, not their elements.")
@options.device
@click.option(
    "--devices",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run a function with shardings, shard_map or pmap on N devices of the processor.",
)
@click.option(
    "--repeat",
    type=int,
    default=1,
    show_default=True,
    help="Run this many times, and print the times and the peak of memory.",
)
@options.phases
@options.func
def run(
    program: str,
    arguments: str | None,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    outputs: tuple[str, ...],
    outputs_file: str | None,
    shape: bool,
    device: str,
    devices: int | None,
    repeat: int,
    phases: bool,
    func: str | None,
) -> None:
    """Run a function of a module or of a compiled program. Without --input and --inputs, a Python
    function runs on the arguments that it was traced with, if they are arrays.
    """
    if outputs and outputs_file is not None:
        raise click.UsageError("--outputs FILE.npz has all results; expected no --output")
    if repeat < 1:
        raise click.UsageError("--repeat must be at least 1")
    if devices is not None and device != "cpu":
        raise click.UsageError(f"--devices {devices} are the processor's: got --device {device}")
    from irax_tools import arrays, programs

    results: list[Any]
    with programs.phases_told(phases):
        if devices is None:
            call, examples = programs.load_program(program, arguments, func, device)
        else:
            call, examples = programs.load_on_devices(program, arguments, func, devices)
        operands = arrays.of_options(inputs, inputs_file) or examples or []
        results, times = programs.timed(lambda: call(operands), repeat)
    if outputs and len(outputs) != len(results):
        raise click.UsageError(
            f"the function has {len(results)} results, got {len(outputs)} --output"
        )
    if outputs_file is not None:
        arrays.save_all(outputs_file, results)
    for path, result in zip(outputs, results, strict=False):
        arrays.save(path, result)
    for result in results:
        if shape:
            click.echo(arrays.describe(result))
        elif not (outputs or outputs_file):
            click.echo(f"{arrays.describe(result)}\n{result}")
    if repeat > 1:
        click.echo(programs.describe_times(times), err=True)
        click.echo(f"peak memory: {programs.peak_memory():.0f} MiB", err=True)


@options.command(
    summary="Compile a function and time its calls.", example="irax bench in.mlir --repeat 20"
)
@options.source
@options.arguments
@options.inputs
@options.inputs_file
@options.device
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="The number of calls to time, after one to warm up.",
)
@options.phases
@options.func
def bench(
    source: str,
    arguments: str | None,
    inputs: tuple[str, ...],
    inputs_file: str | None,
    device: str,
    repeat: int,
    phases: bool,
    func: str | None,
) -> None:
    """Compile a function and time its calls: the least, the median and the most.

    Without --input and --inputs, its arguments are those that it was traced with, or random.
    Operations are those of StableHLO, without fusion.
    """
    from irax_compiler import api
    from irax_tools import arrays, checking, programs, sources

    with programs.phases_told(phases):
        loaded = sources.load(source, arguments, func)
        call, (compiled,) = programs.timed(lambda: programs.program(loaded, device), 1)
    operands = arrays.of_options(inputs, inputs_file)
    given = operands or loaded.examples or checking.trial_of(loaded, 0).inputs
    _, (first,) = programs.timed(lambda: call(given), 1)
    _, times = programs.timed(lambda: call(given), repeat)
    click.echo(f"compile {compiled * 1e3:.1f} ms, first run {first * 1e3:.2f} ms")
    click.echo(programs.describe_times(times))
    cost = api.cost_of(loaded.module, loaded.func)
    flops = cost.flops + cost.transcendentals
    click.echo(f"{flops:.4g} operations, {cost.bytes:.4g} bytes moved by them")
    click.echo(f"{flops / times[len(times) // 2] / 1e9:.3g} G operations a second")
    click.echo(f"peak memory: {programs.peak_memory():.0f} MiB")


@options.command(
    summary="Run a Python program that imports jax, on irax.",
    name="python",
    example='irax python -c "import jax; print(jax.numpy.arange(3))"',
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--show",
    metavar="FILE.html",
    help="Write a page of all functions that the program jits: their stages, calls and times.",
)
@click.option("--open", "opens", is_flag=True, help="With --show: open the page in a browser.")
@click.argument("arguments", metavar="SCRIPT ...", nargs=-1, type=click.UNPROCESSED)
def python_(show: str | None, opens: bool, arguments: tuple[str, ...]) -> None:
    """Run a Python program that imports jax on irax: a script with its arguments, -m MODULE,
    -c CODE, or - for standard input, after options of Python's own (-W ignore).
    """
    if show is not None:
        from irax_tools.show.running import run_shown

        return run_shown(arguments, show, opens)
    if opens:
        raise click.UsageError("--open goes with --show FILE.html")
    if page := re.search(r" --show[ =](\S+\.html)\b", " ".join(arguments)):
        click.echo(
            f"irax python: --show {page[1]} follows the program, which gets it; for irax's page of "
            f"its functions, write it before: irax python --show {page[1]} ...",
            err=True,
        )
    from irax.compat.running import run

    run(arguments)
