"""The page of the command `irax`: each command with all its options, as click has them."""

from __future__ import annotations

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


def _command(command: click.Command, parents: str = "irax", level: str = "##") -> str:
    name = f"{parents} {command.name}"
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"{level} {name}", _paragraphs(command.help), f"```sh\n{usage}\n```"]
    rows = [
        f"| `{_escaped(options)}` | {_escaped(text)} |"
        for parameter in command.get_params(context)
        for options, text in filter(None, [parameter.get_help_record(context)])
    ]
    parts.append("| option | meaning |\n|---|---|\n" + "\n".join(rows))
    if isinstance(example := getattr(command, "example", None), str):
        parts.append(f"Example:\n\n```sh\n{example}\n```")
    if isinstance(command, click.Group):
        parts += [_command(c, name, "###") for _, c in sorted(command.commands.items())]
    return "\n\n".join(parts)


def _paragraphs(text: str | None) -> str:
    return inspect.cleandoc(text or "").replace("\b\n", "")


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
