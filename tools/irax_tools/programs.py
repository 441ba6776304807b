"""Functions of modules as functions of NumPy arrays: compiled, or evaluated."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from irax_compiler import api, cache, mlir, spans, targets
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.targets.pjrt import PjrtTarget
from irax_runtime import archives, divided, exported
from irax_runtime.devices import devices
from irax_runtime.platforms import choose_cpu_devices
from irax_runtime.printable import expected_types
from irax_tools import arrays, dumps, sources
from irax_tools.files import naming, read_file
from irax_tools.sources import Source

Program = Callable[[Sequence[np.ndarray[Any, Any]]], list[np.ndarray[Any, Any]]]

WITHOUT_MODULE = (".vmfb", ".pjrt")
COMPILED = (*WITHOUT_MODULE, ".irax")
REFERENCE = "reference"


def compile_source(source: Source, target: str, passes: Sequence[api.Pass] | None = None) -> bytes:
    """The artefact of a function, lowered by `passes`, or by those of the target."""
    lowered = api.lower(source.module, source.func, target, None, passes)
    with cache.describing(api.about(source.module, source.func, source.file)):
        return targets.compile(lowered, target)


def target_of(device: str, chip: str | None = None) -> str:
    """The compiler's target for a kind of device, such as `cuda`, and one of its chips.

    Raises UsageError where there is no such device or chip.
    """
    try:
        return targets.for_platform(device, chip or "")
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def is_for_plugins(target: str) -> bool:
    """Return True if PJRT's plugins compile the programs of a target."""
    return isinstance(targets.find(target), PjrtTarget)


def load_program(
    path: str, arguments: str | None, func: str | None, device: str
) -> tuple[Program, list[np.ndarray[Any, Any]] | None]:
    """A function of NumPy arrays, from a compiled program, a module, a stage of a compilation or a
    Python file; to be run on the first device of the platform `device`, or by the evaluator
    ("reference"). And arguments for it, if the Python file has some.
    """
    if device == REFERENCE and path.endswith(WITHOUT_MODULE):
        raise click.UsageError("--device reference runs modules, not compiled programs")
    if device != REFERENCE and path.endswith(COMPILED):
        return _compiled(path, func, device), None
    if device != REFERENCE and path != "-" and not sources.is_python(path):
        with naming(path):
            stage = dumps.read_stage(read_file(path), path)
            if stage is not None:
                return _executable(dumps.compile_stage(*stage), stage[0].func, device), None
    source = sources.load(path, arguments, func, by_value=True)
    return program(source, device), source.examples


def load_on_devices(
    path: str, arguments: str | None, func: str | None, count: int
) -> tuple[Program, list[np.ndarray[Any, Any]] | None]:
    """A function of NumPy arrays, which the processor runs as a number of devices, and arguments
    for it, if a Python file has some.
    """
    choose_cpu_devices(count)
    if not sources.is_python(path):
        return _of_each_device(path, arguments, func, count), None
    import irax
    from irax.core.array import aval_of

    file, _, name = path.rpartition(":")
    function, args = sources.python_function(file, name, arguments)
    leaves, tree = irax.tree_util.tree_flatten(args)
    dtypes = [np.dtype(aval_of(leaf).dtype) for leaf in leaves]
    jitted = irax.jit(function)

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        if len(operands) != len(leaves):
            raise TypeError(f"{name} takes {len(leaves)} arrays, got {len(operands)}")
        given = arrays.typed(operands, dtypes)
        results = jitted(*irax.tree_util.tree_unflatten(tree, given))
        return [np.asarray(x) for x in irax.tree_util.tree_leaves(results)]

    return run, sources.elements(args)


def _of_each_device(path: str, arguments: str | None, func: str | None, count: int) -> Program:
    """A module for several devices, or a compiled program of each of them, on the processor's."""
    if path.endswith(COMPILED):
        artefact = read_file(path)
    else:
        source = sources.load(path, arguments, func)
        mesh = api.mesh_of(source.module, source.func)
        if mesh is None:
            raise click.UsageError(
                f"--devices {count}: {path} is a program of one device; expected a Python "
                "function, or a module with shardings"
            )
        target = devices("cpu")[0].target
        artefact = compile_source(sources.of_each_device(source, mesh, target), target)
        func = source.func
    with naming(path):
        layouts = divided.layouts_of(artefact, func)
    if layouts is None:
        raise click.UsageError(f"--devices {count}: {path} is a program of one device")
    if layouts.count != count:
        raise click.UsageError(f"{path} is a program for {layouts}, got --devices {count}")
    call = divided.load(artefact, layouts, devices("cpu")[:count])
    device: Any = call.device

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        if len(operands) != len(layouts.in_specs):
            raise TypeError(
                f"{layouts.name} takes {len(layouts.in_specs)} arguments, got {len(operands)}"
            )
        pairs = zip(operands, layouts.in_specs, strict=True)
        return [x.numpy() for x in call.run([device.put_shards(x, spec) for x, spec in pairs])]

    return run


def compile_from_stage(path: str) -> bytes:
    """The artefact of a file of `irax compile --save-stages`. Raises ValueError for others."""
    with naming(path):
        stage = dumps.read_stage(read_file(path), path)
        if stage is None:
            raise ValueError("not a stage that `irax compile --save-stages` wrote")
        return dumps.compile_stage(*stage)


def _compiled(path: str, func: str | None, device: str) -> Program:
    with naming(path):
        is_file = path != "-" and Path(path).is_file()
        contents = archives.read_file(path) if is_file else None  # where damage is found
        if contents is not None and exported.MANIFEST in contents:
            return exported.program_of(contents, path, devices(device)[0]).flat
        return _executable(read_file(path), func, device)


def program(source: Source, device: str, passes: Sequence[api.Pass] | None = None) -> Program:
    """Compile a module that has been read; see `compile_source`."""
    function = mlir.functions(source.module)[source.func]
    if api.arguments_of_sizes(function) or api.is_sized(function):
        return _of_any_size(source, device, passes)
    call = _evaluated(source) if device == REFERENCE else _jitted(source, device, passes)
    dtypes = [dtype for _, dtype in argument_types(source)]
    return lambda operands: call(arrays.typed(operands, dtypes))


def _of_any_size(source: Source, device: str, passes: Sequence[api.Pass] | None) -> Program:
    """A function with symbolic dimensions, which is refined for the sizes of its operands, and for
    the elements of those that have sizes.
    """
    function = mlir.functions(source.module)[source.func]
    numbers = api.arguments_of_sizes(function)

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        names = [f"argument {i}" for i in range(len(mlir.arguments(function)))]
        if len(operands) != len(names):
            raise TypeError(f"{source.func} takes {len(names)} arguments, got {len(operands)}")
        shapes = [np.shape(x) for x in operands]
        if numbers:
            given = {i: np.asarray(operands[i]) for i in numbers}
            module = api.with_values(source.module, source.func, shapes, given)
        else:
            values = api.values_for(function, shapes, names)
            module = api.refined(source.module, source.func, values)
        return program(replace(source, module=module), device, passes)(operands)

    return run


def _jitted(source: Source, device: str, passes: Sequence[api.Pass] | None) -> Program:
    target = devices(device)[0].target
    module, weights = api.set_weights_apart(source.module, source.func)
    artefact = compile_source(replace(source, module=module), target, passes)
    call = _executable(artefact, source.func, device, weights)
    if not weights:
        return call

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        check_operands(source, operands)
        return call(operands)

    return run


def _evaluated(source: Source) -> Program:
    api.check(source.module, source.func)
    evaluator = Evaluator(source.module)

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        check_operands(source, operands)
        return evaluator(source.func, operands)

    return run


def check_operands(source: Source, operands: Sequence[np.ndarray[Any, Any]]) -> None:
    """Raises TypeError where operands are not of the types that a function takes."""
    name, expected = source.func, argument_types(source)
    if len(operands) != len(expected):
        types = [str(mlir.tensor_type(shape, dtype)) for shape, dtype in expected]
        fits = [(x.shape, x.dtype) == t for x, t in zip(operands, expected, strict=False)]
        given = f"{name} takes {len(expected)} arguments, got {len(operands)}"
        raise TypeError(f"{given}; {expected_types(types, fits)}")
    for i, (operand, (shape, dtype)) in enumerate(zip(operands, expected, strict=True)):
        if (operand.shape, operand.dtype) != (shape, dtype):
            raise TypeError(
                f"{name}: argument {i} is {arrays.describe(operand)}; expected "
                f"{mlir.tensor_type(shape, dtype)}"
            )


def argument_types(source: Source) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    """The shape and dtype of each of a function's arguments."""
    parameters = mlir.arguments(mlir.functions(source.module)[source.func])
    return [(mlir.shape_of(p), mlir.dtype_of(p)) for p in parameters]


def _executable(
    artefact: bytes,
    func: str | None,
    platform: str,
    weights: Sequence[np.ndarray[Any, Any]] = (),
) -> Program:
    """A compiled function, which takes weights after its arguments."""
    device = devices(platform)[0]
    layouts = divided.layouts_of(artefact, func)
    if layouts is not None:
        raise click.UsageError(
            f"the program is that of each of {layouts}: expected --devices {layouts.count}"
        )
    with spans.span("load", str(device)):
        executable = device.load(artefact, func)
    fixed = [device.put(x) for x in weights]

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        return [buffer.numpy() for buffer in executable([*map(device.put, operands), *fixed])]

    return run


@contextmanager
def phases_told(wanted: bool) -> Iterator[None]:
    """If it is wanted, print what the time of a `with` block went to, on standard error."""
    found: list[spans.Span] = []
    with spans.collecting(found):
        yield
    if wanted:
        click.echo(spans.table(found), err=True)


def timed(call: Callable[[], Any], repeat: int) -> tuple[Any, list[float]]:
    """Time repeated calls: the last result, and the seconds of each call, sorted."""
    times: list[float] = []
    result: Any = None
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return result, sorted(times)


def describe_times(times: Sequence[float]) -> str:
    """`10 runs: min 1.0 us, median 1.1 us, max 2.0 us`."""
    least, median, most = (t * 1e6 for t in (times[0], times[len(times) // 2], times[-1]))
    return f"{len(times)} runs: min {least:.1f} us, median {median:.1f} us, max {most:.1f} us"


def peak_memory() -> float:
    """The most memory that this process has had, in MiB."""
    import resource  # which is there on Linux and macOS only

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
