"""The `irax` command: what it takes and prints. The work is done elsewhere, imported when needed,
so that `irax --help` does not wait for a compiler.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irax_tools import guard, options

if TYPE_CHECKING:
    from irax_tools.sources import Source


@click.group(cls=options.Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="irax", message="irax %(version)s")
@click.option("--debug", is_flag=True, help="Show Python's traceback when a command fails.")
def main(debug: bool) -> None:
    """Differentiate, batch, check, compile and run StableHLO.

    A MODULE is a file of MLIR text or bytecode, a portable artifact of StableHLO, or - for standard
    input. FILE.py:FUNCTION is a function of irax's, which --args gives the types of arguments.
    """


# ---- functions from functions --------------------------------------------------------------------


@main.command(example="irax grad in.mlir --wrt 0 --value | irax run --input x.npy --input x.npy")
@options.source
@options.arguments
@options.func
@options.wrt
@click.option("--value", is_flag=True, help="Return the function's value too, before the gradient.")
@options.output
@options.locations
def grad(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    value: bool,
    output: str,
    locations: bool,
) -> None:
    """Write the gradient of a function that returns one real scalar, as @main.

    It takes the function's arguments.
    """
    from irax_tools import derive, sources

    loaded = sources.load(source, arguments, func)
    _write(derive.grad(loaded, wrt, value), output, locations)


@main.command(example="irax vjp in.mlir --wrt 0,1 -o pullback.mlir")
@options.source
@options.arguments
@options.func
@options.wrt
@options.output
@options.locations
def vjp(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    output: str,
    locations: bool,
) -> None:
    """Write the reverse-mode derivative of a function, as @main.

    It takes the function's arguments and a cotangent for each result of a floating-point or complex
    type, and returns the results and the arguments' cotangents.
    """
    from irax_tools import derive, sources

    _write(derive.vjp(sources.load(source, arguments, func), wrt), output, locations)


@main.command(example="irax grad in.mlir --wrt 0 | irax jvp --wrt 0 -o hessian_vector.mlir")
@options.source
@options.arguments
@options.func
@options.wrt
@options.output
@options.locations
def jvp(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    output: str,
    locations: bool,
) -> None:
    """Write the forward-mode derivative of a function, as @main.

    It takes the function's arguments and a tangent for each of those in --wrt, and returns the
    results and the tangents of those of floating-point and complex types.
    """
    from irax_tools import derive, sources

    _write(derive.jvp(sources.load(source, arguments, func), wrt), output, locations)


@main.command(example="irax grad in.mlir --wrt 0 | irax vmap --in-axes 0,None --size 8")
@options.source
@options.arguments
@options.func
@click.option("--size", type=click.IntRange(min=1), required=True, help="The number of lanes.")
@options.in_axes
@click.option(
    "--out-axes",
    metavar="0,1",
    type=options.Numbers(or_none=True),
    help="Where each result has its mapped axis.  [default: 0]",
)
@click.option(
    "--axis-name",
    default="",
    metavar="NAME",
    help="The axis's name, for collectives over it: they become operations on the mapped axis.",
)
@options.output
@options.locations
def vmap(
    source: str,
    arguments: str | None,
    func: str | None,
    size: int,
    in_axes: tuple[int | None, ...] | None,
    out_axes: tuple[int | None, ...] | None,
    axis_name: str,
    output: str,
    locations: bool,
) -> None:
    """Write a function that does for several lanes what a function does for one, as @main."""
    from irax_tools import derive, sources

    loaded = sources.load(source, arguments, func)
    _write(derive.vmap(loaded, size, in_axes, out_axes, axis_name), output, locations)


def _write(source: Source, output: str, locations: bool) -> None:
    from irax_compiler import mlir
    from irax_tools.files import write_file

    write_file(output, mlir.text_of(source.module.operation, locations))


# ---- JAX's programs ------------------------------------------------------------------------------


@main.command(
    name="python",
    example='irax python -c "import jax; print(jax.numpy.arange(3))"',
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", metavar="SCRIPT ...", nargs=-1, type=click.UNPROCESSED)
def python_(arguments: tuple[str, ...]) -> None:
    """Run a Python program that imports jax on irax: a script with its arguments, -m MODULE or
    -c CODE.
    """
    from irax.compat.running import run

    run(list(arguments))


# ---- looking at modules --------------------------------------------------------------------------


@main.command(example='irax show function.py:f --args "f32[4], f32[4]" --html f.html')
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


@main.command(example="irax info in.mlir")
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


@main.command(example='irax opt in.mlir --pipeline "vjp{func=main wrt=0},canonicalize,cse"')
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


@main.command(example="irax check in.mlir")
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


# ---- programs ------------------------------------------------------------------------------------


@main.command("compile", example="irax compile in.mlir --device cuda --chip sm_89 -o model.vmfb")
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
        from irax_compiler.iree import blas

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
        from irax_tools.exporting import export_source

        platform = device if chip is None else f"{device}:{chip}"
        with programs.phases_told(phases):
            write_file(output, export_source(source, arguments, func, platform).to_bytes())
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


@main.command(example="irax run in.mlir --input x.npy --input 4xf32=1 --output y.npy")
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
    help="Run so often, and print the times and the peak of memory.",
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


@main.command(example="irax bench in.mlir --repeat 20")
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
    help="How many calls to time, after one that is not.",
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
    Operations are counted in StableHLO, each for itself.
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


# ---- this machine --------------------------------------------------------------------------------


@main.command(example="irax devices")
def devices() -> None:
    """List the devices there are, and what is missing for the others."""
    from irax_runtime.inventory import describe

    for line in describe():
        click.echo(line)


@main.command(example="irax doctor")
def doctor() -> None:
    """Say what works here, and what to install for what does not: exit with 1 where irax fails."""
    from irax_tools.doctor import examine

    healthy = True
    for line, works in examine():
        click.echo(f"{'ok ' if works else '!! '} {line}")
        healthy = healthy and works
    if not healthy:
        click.get_current_context().exit(1)


@main.command(example="irax cache prune --size 500MB")
@click.argument("action", type=click.Choice(["info", "list", "prune", "clear"]), default="info")
@click.option("--size", help="What prune leaves at most, such as 500MB (the cache's own limit).")
def cache(action: str, size: str | None) -> None:
    """Tell of, list, or remove the compiled programs that irax keeps: clear removes all of them,
    prune the least recently used.
    """
    import time

    from irax_compiler import cache as kept

    folder = kept.directory()
    if folder is None:
        click.echo("none are kept: IRAX_CACHE_DIR=off")
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
            click.echo(f"{entry.path.name}  {entry.size:10} bytes, used {used}")
        return
    total = sum(entry.size for entry in found) / 2**20
    did = "removed" if removes else f"of at most {limit / 2**20:.0f} MiB"
    click.echo(f"{folder}: {len(found)} programs, {total:.1f} MiB, {did}")


def start() -> None:
    """The command as the shell runs it: in a process of its own."""
    guard.run(lambda: main(prog_name=Path(sys.argv[0]).name))


if __name__ == "__main__":
    start()
