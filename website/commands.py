"""The page of the command `irax`: each command with all its options, as click has them."""

from __future__ import annotations

import html
import inspect

import click

from irax_tools.cli import main


def pages() -> dict[str, str]:
    """Return the text of the page by its name."""
    parts = [
        "# The command irax",
        "All commands, their arguments and their options. "
        "[The command line](../command_line.md) shows how they work together.",
        _paragraphs(main.help),
        *(_command(command) for _, command in sorted(main.commands.items())),
    ]
    return {"reference/command.md": "\n\n".join(parts) + "\n"}


MEANINGS = {
    "MODULE": "a file of MLIR, or - for standard input",
    "FILE.py:FUNCTION": "a function of a Python file, with --args",
    "FILE.vmfb": "a compiled program, also .pjrt and .irax",
    "FILE": "the file",
    "OLD": "a module",
    "NEW": "the module to compare it with",
    "-- COMMAND ...": "the command, in which {} is the file of a module",
    "SCRIPT ...": "the program and its arguments",
    "[info|list|prune|clear]": "what to do",
    "[MODULE] [--PASS ...]": "a file of MLIR, standard input by default, and passes",
}
"""The arguments of commands."""


def _argument(argument: click.Argument, context: click.Context) -> tuple[str, str]:
    """The name of an argument, and its meaning."""
    name = argument.make_metavar(context)
    parts = [name] if name in MEANINGS else [n for n in name.split("|") if n in MEANINGS]
    return name, "; or ".join(MEANINGS[part] for part in parts)


def _command(command: click.Command, parents: str = "irax", level: str = "##") -> str:
    name = f"{parents} {command.name}"
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"{level} {name}", _paragraphs(command.help), f"```sh\n{usage}\n```"]
    rows = [
        f"| {_code(options)} | {_escaped(text)} |"
        for parameter in command.get_params(context)
        for options, text in filter(None, [_record(parameter, context)])
    ]
    parts.append("| argument or option | meaning |\n|---|---|\n" + "\n".join(rows))
    if isinstance(example := getattr(command, "example", None), str):
        parts.append(f"Example:\n\n```sh\n{example}\n```")
    if isinstance(command, click.Group):
        parts += [_command(c, name, "###") for _, c in sorted(command.commands.items())]
    return "\n\n".join(parts)


def _record(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    if isinstance(parameter, click.Argument):
        return _argument(parameter, context)
    return parameter.get_help_record(context)


def _paragraphs(text: str | None) -> str:
    return inspect.cleandoc(text or "").replace("\b\n", "")


def _code(text: str) -> str:
    """Code in a cell of a table. Between backticks, a | would end the cell."""
    return (
        f"<code>{html.escape(text).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"
    )


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
