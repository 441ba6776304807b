"""Pages as files, which people are told of."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from irax_tools.files import write_file


def write(path: str, text: str, opens: bool = False) -> None:
    """Write a page, say where it is, and show it in a browser if it is to be opened."""
    write_file(path, text)
    if path == "-":
        return
    place = Path(path).absolute()
    click.echo(f"Wrote {place}", err=True)
    if opens and not webbrowser.open(place.as_uri()):
        click.echo(f"There is no browser to open it: {place.as_uri()}", err=True)
