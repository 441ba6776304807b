"""Compiles functions of the tables for a TPU, in a process that the compiler might end.

    python -m tests.differential.devices.tpu_worker TOPOLOGY MODULE...

A MODULE is a key of `MODULES`, or one with the number of a function in it: `dot-0:3`. Writes, for
each function, its name before it is compiled, and what became of it afterwards.
"""

import sys
from collections.abc import Iterator

from tests.differential.test_iree import MODULES, Function

from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp
from irax_runtime.pjrt.topology import Topology, topology_for

COMPILED = "compiled"
REFUSED = "refused: "


def functions(names: list[str]) -> Iterator[Function]:
    for name in names:
        module, _, number = name.partition(":")
        yield from [MODULES[module][int(number)]] if number else MODULES[module]


def outcome(function: Function, topology: Topology) -> str:
    module = mlir.new_module()
    name = function.add_to(module, "f")
    try:
        artefact = targets.compile(lower(module, name, topology.target), topology.target)
    except UnsupportedOp as error:
        return REFUSED + str(error)
    try:
        topology.compile(artefact)
    except RuntimeError as error:
        return f"wrong: {error}"
    return COMPILED


if __name__ == "__main__":
    where = topology_for("tpu", sys.argv[1])
    for each in functions(sys.argv[2:]):
        print(each, flush=True)
        print(outcome(each, where).replace("\n", " "), flush=True)
