"""Random programs in several compilers: what each operation gives may be right, and a program of
them wrong.

python -m tests.conformance.programs --count 300 --seed 1 --xla ENVIRONMENT/bin/python

Their numbers are small integers, so that all results are equal. NumPy's, by nothing of irax's or of
MLIR's, are what others are compared with. XLA, by a Python that has jaxlib, runs each program as
one, and each of its operations as a program of its own; jaxlib has StableHLO's interpreter, too.
What differs is left in `.fuzz` as a module and its arguments.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.conformance import peers
from tests.conformance.run import FOLDER, versions
from tests.differential.random.random_functions import IRAX, Kind, RandomFunction
from tests.differential.random.random_steps import ALIKE, EDGES, EXACT, PIECES, WITHIN
from tests.differential.random.trials import Trial, differences, plain

import irax
from irax_compiler import lowering, mlir, targets
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_runtime.iree.cpu import cpu

KINDS: dict[str, Kind] = {
    "exact": EXACT,
    "edges": EDGES,
    "pieces": PIECES,
    "alike": ALIKE,
    "within": WITHIN,
    "large": replace(WITHIN, sizes=(1, 3, 64, 300), large=(500, 5000), most=100_000),
}
KEPT = Path(".fuzz")


@dataclass(eq=False)
class Drawn:
    """A random program."""

    name: str
    text: str
    operands: Sequence[np.ndarray]
    expected: Sequence[np.ndarray]

    def module(self) -> str:
        """The program as StableHLO."""
        return self.text


def drawn(kind: str, seed: int, number: int) -> Drawn:
    """The program of a kind with a seed and a number."""
    f = RandomFunction(KINDS[kind], (seed, list(KINDS).index(kind), number))

    def main(*arrays: Any) -> list[Any]:
        return f(IRAX, *arrays)

    with irax.enable_x64():
        arguments = f.arguments()
        lowered = irax.jit(main).lower(*arguments)
        captured = [np.asarray(x) for x in lowered._traced.traced.captures]
        operands = [np.asarray(x) for x in [*arguments, *captured]]
        return Drawn(f"{kind}-{seed}-{number}", lowered.as_text(), operands, plain(f))


def evaluated(programs: Sequence[Drawn]) -> Iterator[Any]:
    """The results of the evaluator."""
    for program in programs:
        yield _tried(lambda p: Evaluator(mlir.parse_module(p.text))("main", p.operands), program)


def compiled(programs: Sequence[Drawn]) -> Iterator[Any]:
    """The results of irax's `cpu`."""
    for program in programs:
        yield _tried(_on_cpu, program)


def _on_cpu(program: Drawn) -> list[np.ndarray]:
    lowered = lowering.lower(mlir.parse_module(program.text), "main", "iree-cpu", is_direct=True)
    executable = cpu().load(targets.compile(lowered, "iree-cpu"), "main")
    return [x.numpy() for x in executable([cpu().put(x) for x in program.operands])]


def _tried(run: Any, program: Drawn) -> Any:
    try:
        return run(program)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]


OURS = {"evaluator": evaluated, "cpu": compiled}
BACKENDS = (*OURS, "xla", "xla-ops", "interpreter")


def problem(program: Drawn, found: Any) -> str:
    """The fault of results, in words that begin with its kind; nothing if they are right."""
    if found in (peers.ENDED, peers.HUNG):
        return f"ended: {found}"
    if isinstance(found, str):
        return f"refused: {found}"
    told = differences(found, Trial(program.name, list, program.operands, program.expected))
    return f"wrong: {told[0]}" if told else ""


def run(backend: str, programs: Sequence[Drawn], python: str) -> Counter[str]:
    """Run programs, leave those that differ, and count them."""
    ours = OURS.get(backend)
    results = ours(programs) if ours else peers.found_by(python, backend, programs)
    count = Counter(all=len(programs), wrong=0, refused=0, ended=0)
    for program, found in zip(programs, results, strict=True):
        if told := problem(program, found):
            count[told.partition(":")[0]] += 1
            print(f"{backend}: {program.name}: {told}", flush=True)
            keep(program)
    return count


def keep(program: Drawn) -> None:
    """Leave a program, its arguments and what it should give."""
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{program.name}.mlir").write_text(program.text, "utf-8")
    parts = {f"x{i}": x for i, x in enumerate(program.operands)}
    np.savez(KEPT / f"{program.name}.npz", **parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run programs of each kind on the backends, and write their numbers to build/conformance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    parser.add_argument("--xla", metavar="PYTHON", help="of an environment that has jaxlib")
    given = parser.parse_args(arguments)
    programs = [drawn(k, given.seed, n) for k in given.kinds for n in range(given.count)]
    found = {}
    for backend in given.backends:
        if backend not in OURS and given.xla is None:
            continue
        found[backend] = dict(run(backend, programs, given.xla))
        print(backend, found[backend], flush=True)
    version = versions("jaxlib", given.xla) if given.xla else ""
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"jaxlib": version, "seed": given.seed, "found": found}, indent=1)
    (FOLDER / f"programs-{version or 'ours'}.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
