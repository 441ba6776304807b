"""Sources of the functions that commands work on: modules, and Python files."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import math
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np

from irax_compiler import api, containers, mlir
from irax_runtime.platforms import choose_cpu_devices
from irax_tools import arrays
from irax_tools.files import naming, read_file


@dataclass(frozen=True)
class Source:
    """A function of a module."""

    module: mlir.Module
    func: str
    is_traced: bool = False
    """True where the function was one of Python's."""
    path: str = ""
    """The file that the module was read from."""
    text: str = ""
    """The module's text, where it was read from one."""
    examples: list[np.ndarray[Any, Any]] | None = None
    """Arguments that it was traced with, if they were arrays."""
    python: str = ""
    """The file of the function of Python's."""
    kept: Any = None
    """The callbacks of a traced module, which live as long as it."""

    @property
    def file(self) -> str:
        """The file that it is from."""
        return self.python or self.path


def is_python(source: str) -> bool:
    """True for FILE.py:FUNCTION."""
    return source.rpartition(":")[0].endswith(".py")


def load(
    source: str,
    arguments: str | None = None,
    func: str | None = None,
    mesh: Mapping[str, int] | None = None,
    by_value: bool = False,
) -> Source:
    """The function that MODULE or FILE.py:FUNCTION names. Raises UsageError or ValueError.

    A Python function is traced with the mesh, if there is one, as that of the context. With
    `by_value`, sizes of a module may be elements of arguments.
    """
    if is_python(source):
        file, _, function = source.rpartition(":")
        if func is not None:
            raise click.UsageError("--func goes with a module; name the function after the colon")
        return _trace(file, function, arguments, mesh)
    if source.endswith(".py"):
        raise click.UsageError(f"{source}: which function? expected {source}:FUNCTION")
    if arguments is not None:
        raise click.UsageError("--args goes with FILE.py:FUNCTION")
    module, text = read_module(source, by_value)
    name = containers.main_function(module) if func is None else func
    there = mlir.functions(module)
    if name not in there:
        listed = ", ".join(f"@{other}" for other in there) or "none"
        raise ValueError(f"{source}: the module has no function @{name}; it has {listed}")
    return Source(module, name, path=source, text=text)


def of_each_device(source: Source, mesh: Mapping[str, int], target: str) -> Source:
    """The program of each device of a mesh."""
    divided = api.partition(source.module, source.func, dict(mesh), target=target)
    return replace(source, module=divided, examples=None)


def read_module(path: str, by_value: bool = False) -> tuple[mlir.Module, str]:
    """The module of a file, or of standard input, and its text, where it has one. With `by_value`,
    sizes of it may be elements of arguments. Raises UsageError or ValueError.
    """
    data = _data(path)
    with naming(path):
        found = containers.module_in(data)
        module = api.parse(found, path, by_value, containers.export_in(data))
    return module, "" if isinstance(found, bytes) else found


def read_contents(path: str) -> str | bytes:
    """The text or the bytecode of the module in a file. Raises UsageError or ValueError."""
    data = _data(path)
    with naming(path):
        return containers.module_in(data)


def _data(path: str) -> bytes:
    if path.endswith(".py"):
        shown = f"irax show {path}:FUNCTION --stage traced --locations writes that of a function"
        raise click.UsageError(f"{path}: a Python program; expected a module: {shown}")
    return read_file(path)


def _trace(
    file: str, name: str, arguments: str | None, mesh: Mapping[str, int] | None = None
) -> Source:
    from irax.ir import make_ir

    with contextlib.nullcontext() if mesh is None else _using(mesh):
        function, args = python_function(file, name, arguments)
        called = functools.wraps(function, updated=())(lambda *args: function(*args))
        with _naming_lines(file):
            ir = make_ir(function if mesh is None else called)(*args)
    return Source(ir.module, ir.func, is_traced=True, python=file, examples=elements(args), kept=ir)


@contextlib.contextmanager
def _naming_lines(file: str) -> Iterator[None]:
    """Errors of the functions of a file become errors that name its line."""
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename) == Path(file).absolute()]
        if not own or isinstance(error, SyntaxError) or file in str(error):
            raise
        told = str(error)
        if not told or isinstance(error, KeyError):  # its text is the key alone
            told = f"{type(error).__name__}: {told}".removesuffix(": ")
        raise ValueError(f"{told}\nat {file}:{own[-1].lineno}: {own[-1].line}") from error


def _using(mesh: Mapping[str, int]) -> AbstractContextManager[Any]:
    """A context with a mesh. The processor has as many devices, for functions that ask for them:
    thousands of them take minutes to make.
    """
    import irax

    choose_cpu_devices(math.prod(mesh.values()))
    types = (irax.sharding.AxisType.Auto,) * len(mesh)
    abstract = irax.sharding.AbstractMesh(tuple(mesh.values()), tuple(mesh), axis_types=types)
    return irax.sharding.use_abstract_mesh(abstract)


def _check_call(function: Callable[..., Any], args: tuple[Any, ...], given: str | None) -> None:
    """Raises UsageError where a function does not take so many arguments."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some builtins have none
        return
    try:
        signature.bind(*args)
    except TypeError as error:
        there = "without --args" if given is None else f"--args {given!r}"
        told = f'{error}; the function is called as {signature}: --args "f32[3],i32[]" gives types'
        raise click.UsageError(f"{there}: {told}") from None


def python_function(
    file: str, name: str, arguments: str | None
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function of a Python file, and arguments to trace it with: those that `arguments` says, or
    returns if it is a call such as `batch()` of another function of the file. The name
    `step_and_arguments` is that of a function that returns both.

    Raises UsageError where there is no such file or function.
    """
    module = _python_module(file)
    function = _attribute(module, file, name)
    if arguments is None and name == "step_and_arguments":
        function, args = function()
        return function, tuple(args)
    args = _arguments(module, file, arguments or "")
    _check_call(function, args, arguments)
    return function, args


def _arguments(module: ModuleType, file: str, arguments: str) -> tuple[Any, ...]:
    """The arguments that `--args` says."""
    call = re.fullmatch(r"\s*(\w+)\(\)\s*", arguments)
    if call is None:
        return arrays.parse_arguments(arguments)
    args = _attribute(module, file, call[1])()
    if not isinstance(args, tuple | list):
        raise click.UsageError(
            f"--args {arguments}: it returns a {type(args).__name__}; expected a tuple, one item "
            "for each argument"
        )
    return tuple(args)


def elements(args: tuple[Any, ...]) -> list[np.ndarray[Any, Any]] | None:
    """The arrays of arguments; None where some are mere types."""
    from irax import ShapeDtypeStruct, tree_util
    from irax.core.array import as_array

    leaves = tree_util.tree_leaves(args)
    if any(isinstance(leaf, ShapeDtypeStruct) for leaf in leaves):
        return None
    return [np.asarray(as_array(leaf)) for leaf in leaves]


def ranges(
    text: str, source: str, arguments: str | None, count: int
) -> list[tuple[float, float] | None]:
    """The range of each of `count` arrays that a text such as `x=0..1, arg1=-5..5` gives; None for
    those without one. All arrays of a Python function's parameter have its range.

    Raises UsageError for other texts, and for names of no argument.
    """
    names = {f"arg{i}": [i] for i in range(count)}
    if is_python(source):
        from irax import tree_util

        file, _, name = source.rpartition(":")
        function, args = python_function(file, name, arguments)
        bound = inspect.signature(function).bind(*args)
        first = 0
        for parameter, value in bound.arguments.items():
            leaves = len(tree_util.tree_leaves(value))
            names[parameter] = list(range(first, first + leaves))
            first += leaves
    found: list[tuple[float, float] | None] = [None] * count
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, given = item.partition("=")
        low, _, high = given.partition("..")
        try:
            limits = float(low), float(high)
        except ValueError:
            raise click.UsageError(f"--ranges {item!r}: expected a range such as x=0..1") from None
        if not limits[0] <= limits[1]:
            raise click.UsageError(f"--ranges {item!r}: expected the smaller number first")
        if name.strip() not in names:
            raise click.UsageError(f"--ranges {item!r}: expected one of {', '.join(names)}")
        for number in names[name.strip()]:
            found[number] = limits
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"of type {type(value).__name__}"


def _attribute(module: ModuleType, file: str, name: str) -> Callable[..., Any]:
    function = getattr(module, name, None)
    if not callable(function):
        there = [k for k, v in vars(module).items() if callable(v) and not k.startswith("_")]
        given = f": it is {_short(function)}" if function is not None else ""
        raise click.UsageError(
            f"{file} has no function {name!r}{given}; it has {', '.join(there) or 'none'}"
        )
    return function


def _python_module(file: str) -> ModuleType:
    """A Python file, which is run as a module of its own name."""
    path = Path(file)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.exists() or spec is None or spec.loader is None:
        raise click.UsageError(f"{file}: no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    try:
        with _naming_lines(file):
            spec.loader.exec_module(module)
    except (SyntaxError, ValueError) as error:
        if "null bytes" not in str(error):
            raise
        raise ValueError(f"{file}: not a Python program: {error}") from None
    finally:
        sys.path.pop(0)
    return module
