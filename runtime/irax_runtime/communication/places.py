"""A process's place in a job, of arguments, of JAX's variables, or of Slurm's."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from irax_runtime.communication.tcp import Place

_JAX = {
    "coordinator_address": "JAX_COORDINATOR_ADDRESS",
    "num_processes": "JAX_NUM_PROCESSES",
    "process_id": "JAX_PROCESS_ID",
}
_BIND = "JAX_COORDINATOR_BIND_ADDRESS"
_SLURM = "SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"
_PORTS = 1 << 12
"""Slurm's jobs have the last so many ports, by their numbers."""


def find(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    bind: str | None = None,
    timeout: float = 300.0,
    detect: bool = True,
    variables: Mapping[str, str] = os.environ,
) -> Place | None:
    """Return this process's place in a job whose processes meet at a store; None if there is none.

    Args:
        coordinator_address: where process 0 can be reached, as `HOST:PORT`.
        num_processes: the number of processes.
        process_id: the number of this process.
        bind: where process 0 listens, as `HOST:PORT`.
        timeout: the seconds in which all processes must have come.
        detect: ask Slurm's variables, too.
        variables: the environment.

    Raises:
        ValueError: a part of a place is missing, or is not what it should be.

    >>> find("host:1234", 2, 1).rank
    1
    """
    coordinator_address = coordinator_address or variables.get(_JAX["coordinator_address"])
    if coordinator_address is None:
        return _of_slurm(variables, timeout) if detect else None
    found = {
        name: _number(name, given, variables)
        for name, given in (("num_processes", num_processes), ("process_id", process_id))
    }
    size, rank = found["num_processes"], found["process_id"]
    if not 0 <= rank < size:
        raise ValueError(f"process_id={rank}: expected a number from 0 to {size - 1}")
    for name, text in (("coordinator_address", coordinator_address), ("bind", bind or "x:0")):
        if not re.fullmatch(r".*:\d+", text):
            raise ValueError(f"{name}={text!r}: expected HOST:PORT")
    return Place(coordinator_address, size, rank, bind or variables.get(_BIND), timeout)


def _number(name: str, given: int | None, variables: Mapping[str, str]) -> int:
    if given is not None:
        return int(given)
    text = variables.get(_JAX[name], "")
    if not text.isdecimal():
        raise ValueError(
            f"{name} is missing: coordinator_address is given, so give {name} as an argument, or "
            f"set {_JAX[name]}"
        )
    return int(text)


def _of_slurm(variables: Mapping[str, str], timeout: float) -> Place | None:
    """The place of a task of a step that `srun` started."""
    if not all(name in variables for name in _SLURM):
        return None
    job, nodes, size, rank = (variables[name] for name in _SLURM)
    port = (1 << 16) - _PORTS + int(job) % _PORTS
    return Place(f"{first_node(nodes)}:{port}", int(size), int(rank), None, timeout)


def first_node(nodes: str) -> str:
    """Return the first node of a list of Slurm's.

    >>> first_node("node[007-009,12],login")
    'node007'
    """
    found = re.match(r"([^,\[]+)(?:\[([^\]]+)\])?([^,\[]*)", nodes)
    if found is None:
        raise ValueError(f"SLURM_STEP_NODELIST={nodes!r}: expected a list of nodes")
    head, numbers, tail = found.groups()
    return head + re.split("[-,]", numbers or "")[0] + tail
