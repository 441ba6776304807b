"""Options that commands share, and the form of their examples and errors."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from irax_tools import guard


def has_colours(color: str) -> bool:
    """Return True if standard output is to have colours, as `--color` says."""
    if color == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return color == "always"


class Command(click.Command):
    """A command with an example, which its help shows in one line that can be copied."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\nExample:\n  {self.example}\n")


def command(
    name: str | None = None, *, summary: str, example: str, **settings: Any
) -> Callable[..., Command]:
    """Decorator for the function of a command, with the settings of `click.command`. The summary is
    its line in the list of commands, where it has about 60 characters.
    """
    return click.command(name, Command, short_help=summary, example=example, **settings)


_HIDDEN = "irax's own frames are hidden"
"""The beginning of a note that is for tracebacks."""
_ELSEWHERE = {
    "explain": "irax.explain(f) is a function of Python's; `irax cost` measures dispatches",
    "export": "`irax compile` writes a compiled function to a file, `irax show --stage traced` IR",
    "ir": "`irax show --stage traced` prints it",
    "jit": "`irax compile` and `irax run` compile a function",
    "lower": "`irax show` prints the stages of a function",
    "profile": "`irax cost` measures dispatches, irax.profiler.trace() a program",
    "summary": "irax.profiler.summary() is a function of Python's",
    "test": "`irax check` compares a function's derivatives and batches with others",
    "trace": "`irax show --stage traced` prints the IR of a function",
}
"""The names of commands that there are not, and what does that."""


class Group(click.Group):
    """Prints errors as one clear line, and exits with 1 (click itself exits with 2 for misuse)."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in _ELSEWHERE and args[0] not in self.commands:
            ctx.fail(f"No such command {args[0]!r}: {_ELSEWHERE[args[0]]}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            ctx.exit(guard.INTERRUPTED)
        except Exception as error:
            reader_has_gone = isinstance(error, OSError) and error.errno == errno.EPIPE
            if reader_has_gone or ctx.find_root().params.get("debug"):
                raise
            from irax_runtime.printable import printable
            from irax_tools.places import abridged

            told = abridged(printable(str(error))) or type(error).__name__
            if type(error) is KeyError:  # its text is the key alone
                told = f"KeyError: {told}"
            click.echo(f"irax: error: {told}", err=True)
            for note in getattr(error.__cause__ or error, "__notes__", ()):
                if not note.startswith(_HIDDEN):
                    click.echo(note, err=True)
            ctx.exit(1)


class Numbers(click.ParamType):
    """Numbers with commas between them, and None among them where that is allowed."""

    name = "numbers"

    def __init__(self, or_none: bool = False) -> None:
        self.or_none = or_none

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, ...]:
        if not isinstance(value, str):
            return value
        try:
            return tuple(self._number(item.strip()) for item in value.split(",") if item.strip())
        except ValueError:
            example = "0,None" if self.or_none else "0,2"
            self.fail(f"{value!r}: expected numbers such as {example}", param, ctx)

    def _number(self, text: str) -> int | None:
        if self.or_none and text in ("None", "none", "-"):
            return None
        number = int(text)
        if number < 0:
            raise ValueError(text)
        return number


class MeshAxes(click.ParamType):
    """The axes of a mesh and their sizes: `data=4,model=2`."""

    name = "mesh"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, int]:
        if not isinstance(value, str):
            return value
        axes = [item.partition("=") for item in value.split(",")]
        names = {name.strip() for name, _, _ in axes}
        if len(names) < len(axes) or not all(s.strip().isdecimal() and int(s) for _, _, s in axes):
            self.fail(f"{value!r}: expected names and sizes such as data=4,model=2", param, ctx)
        return {name.strip(): int(size) for name, _, size in axes}


source = click.argument("source", metavar="MODULE|FILE.py:FUNCTION", default="-")
arguments = click.option(
    "--args",
    "arguments",
    metavar="ARGS",
    help='The types a Python function is traced with: "f32[8,64], i32[8]". Pytrees are written as '
    "Python literals: \"{'w': f32[64,10]}, f32[8,64]\". Or a call of another function of the file, "
    'which returns arguments: "batch()". FILE.py:step_and_arguments returns both.',
)
func = click.option(
    "--func",
    metavar="NAME",
    help="The function of the module.  [default: main, or the only public one]",
)
output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    help="Where to write: text, or MLIR's bytecode to a .mlirbc.  [default: -]",
)
locations = click.option(
    "--locations", is_flag=True, help="Write each operation's source location."
)
color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours: auto is on a terminal, unless NO_COLOR is set.",
)
wrt = click.option(
    "--wrt",
    metavar="0,2",
    type=Numbers(),
    help="The arguments to differentiate with respect to, counted from 0.  [default: all those of "
    "floating-point and complex types]",
)
in_axes = click.option(
    "--in-axes",
    metavar="0,None",
    type=Numbers(or_none=True),
    help="The mapped axis of each argument, or None where all lanes have the same.  [default: 0]",
)
inputs = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="FILE.npy|TYPE=VALUES",
    help="An argument, in order: x.npy, 4x4xf32=1 (all ones), 3xf32=1,2,3, or bf16=x.npy where the "
    "dtype is not one of NumPy's own.",
)
inputs_file = click.option(
    "--inputs",
    "inputs_file",
    metavar="FILE.npz",
    help="All arguments, in the order of the file's arrays, instead of --input.",
)
device = click.option(
    "--device",
    metavar="PLATFORM|reference",
    default="cpu",
    show_default=True,
    help="The platform (`irax devices` lists them), or the NumPy evaluator.",
)
phases = click.option(
    "--phases", is_flag=True, help="Print the times of compilation by phase, on standard error."
)
compiled_for = click.option(
    "--device",
    metavar="DEVICE",
    default="cpu",
    show_default=True,
    help="What to compile for: cpu, vulkan, cuda, hip, metal, tpu, or pjrt, for PJRT's plugins.",
)
chip = click.option(
    "--chip",
    metavar="NAME",
    help="The chip of the device to compile for, such as sm_89 for cuda; an unknown one gets a "
    "list of them.  [default: for cpu this host's]",
)
topology = click.option(
    "--topology",
    metavar="NAME",
    help="Compile for chips that need not be here, such as v5e:2x2x1 with --device tpu or "
    "h100:1x1x4 with --device pjrt:cuda, and tell what the program costs.",
)
hlo = click.option(
    "--hlo", metavar="FILE", help="With --topology: where to write the optimised HLO, or -."
)
mesh = click.option(
    "--mesh",
    metavar="data=4,model=2",
    type=MeshAxes(),
    help="Make the program of each device of a mesh, from a function with shardings.",
)
