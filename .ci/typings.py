"""Write type stubs for the MLIR bindings, which iree-base-compiler ships without.

    python .ci/typings.py DIRECTORY

The type checker finds them there (`stubPath` in pyproject.toml). They are made from the installed
extension modules, so they never disagree with what runs.
"""

import re
import sys
from pathlib import Path

from iree.compiler._mlir_libs._mlir import ir, passmanager
from nanobind.stubgen import StubGen

# On import, Context is replaced by a subclass made inside a function, which no stub can name. The
# class that it extends has the same interface.
ir.Context = ir._Context

directory = Path(sys.argv[1], "iree", "compiler")
directory.mkdir(parents=True, exist_ok=True)
for module in (ir, passmanager):
    generator = StubGen(module, include_private=True, quiet=True)
    generator.put(module)
    # Signatures written by hand in the extension call its module by the name it has in MLIR.
    text = re.sub(r"(?<![\w.])_mlir\.ir\b", "iree.compiler.ir", generator.get())
    (directory / module.__name__.rpartition(".")[2]).with_suffix(".pyi").write_text(text)
