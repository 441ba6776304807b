"""The smallest module that XLA compiles to another result than the evaluator has, and than its own
programs of the single operations have.

python -m tests.conformance.smallest .fuzz/within-0-3 --python ENVIRONMENT/bin/python

It reads the module and the arguments that `programs.py` left, and prints a smaller module, its
arguments, and what both give.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.conformance.peers import SCRIPT
from tests.differential.random.random_functions import drawn
from tests.differential.random.trials import is_same

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_tools.reduce.search import Search


class Peer:
    """A compiler in a process of its own, which waits for programs; one that ends is replaced."""

    def __init__(self, python: str, name: str) -> None:
        self._command = [python, str(SCRIPT), name]
        self._begin()

    def _begin(self) -> None:
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=quiet)

    def __call__(self, text: str, operands: Sequence[np.ndarray]) -> Any:
        """The results, or a text that says why there are none."""
        given, found = self._process.stdin, self._process.stdout
        assert given is not None
        assert found is not None
        try:
            pickle.dump((text, list(operands)), given)
            given.flush()
            return pickle.load(found)
        except (BrokenPipeError, EOFError):
            self.close()
            self._begin()
            return "ended"

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.kill()
        self._process.wait()


class Differs:
    """True for the text of a module whose results differ, although each operation's do not."""

    def __init__(self, python: str, operands: Sequence[np.ndarray]) -> None:
        self.whole, self.parts = Peer(python, "xla"), Peer(python, "xla-ops")
        self.operands = operands

    def operands_of(self, text: str) -> list[np.ndarray]:
        """The arguments, or others by chance where types are not the same any more."""
        module = mlir.parse_module(text)
        parameters = mlir.arguments(mlir.functions(module)["main"])
        types = [(mlir.shape_of(x), mlir.dtype_of(x)) for x in parameters]
        if types == [(x.shape, x.dtype) for x in self.operands]:
            return list(self.operands)
        rng = np.random.default_rng(0)
        return [drawn(rng, shape, dtype, False) for shape, dtype in types]

    def right(self, text: str) -> list[np.ndarray]:
        """The evaluator's results."""
        return Evaluator(mlir.parse_module(text))("main", self.operands_of(text))

    def __call__(self, text: str) -> bool:
        try:
            right, operands = self.right(text), self.operands_of(text)
        except Exception:  # what only a smaller module does
            return False
        found = self.whole(text, operands)
        if isinstance(found, str) or _are_same(found, right):
            return False
        found = self.parts(text, operands)
        return not isinstance(found, str) and _are_same(found, right)

    def close(self) -> None:
        """End the processes."""
        self.whole.close()
        self.parts.close()


def _are_same(found: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> bool:
    pairs = zip(found, right, strict=True)
    return all(a.shape == b.shape and is_same(a, b, False) for a, b in pairs)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the smallest modules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", type=Path, help="without the ending")
    parser.add_argument("--python", default=sys.executable, help="of an environment with jaxlib")
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args(arguments)
    for path in given.programs:
        differs = Differs(given.python, list(np.load(path.with_suffix(".npz")).values()))
        text = path.with_suffix(".mlir").read_text("utf-8")
        if differs(text):
            search = Search(mlir.parse_module(text), "main", differs, given.seconds)
            text = mlir.text_of(search.run().operation)
            operands = differs.operands_of(text)
            print(path, text, *operands, "right:", *differs.right(text), sep="\n")
            print("found:", *differs.whole(text, operands), sep="\n", flush=True)
        else:
            print(f"{path}: each operation differs by itself, or nothing does")
        differs.close()


if __name__ == "__main__":
    main()
