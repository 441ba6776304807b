"""The `irax` command. Its work is done elsewhere, imported when needed, so that `irax --help` does
not wait for a compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from irax_tools import guard, options
from irax_tools.commands import (
    costs,
    failures,
    machine,
    modules,
    numerics,
    programs,
    transformations,
)


@click.group(cls=options.Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="irax", message="irax %(version)s")
@click.option("--debug", is_flag=True, help="Show Python's traceback when a command fails.")
def main(debug: bool) -> None:
    """Differentiate, batch, check, compile and run StableHLO.

    A MODULE is a file of MLIR text or bytecode, a portable artifact of StableHLO, or - for standard
    input. FILE.py:FUNCTION is a function of a Python file; --args gives the types of its arguments.
    """


for command in (
    *(transformations.grad, transformations.jacobian, transformations.jvp),
    *(transformations.vjp, transformations.vmap),
    *(modules.diff, modules.info, modules.opt, modules.show),
    *(costs.cost, numerics.digits, failures.check, failures.reduce),
    *(programs.bench, programs.compile_, programs.python_, programs.run),
    *(machine.cache, machine.devices, machine.doctor),
):
    main.add_command(command)


def start() -> None:
    """The command as the shell runs it: in a process of its own."""
    guard.run(lambda: main(prog_name=Path(sys.argv[0]).name))


if __name__ == "__main__":
    start()
