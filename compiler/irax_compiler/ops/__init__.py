"""All ops that irax knows, one family per file. A file here, or in one of the folders, is found by
being there.

Families use each other in their rules, and imports go one way: `shape`, `comparison`, `slicing` and
`elementwise` are below the others. Where two ops are made of each other (the transpose of a
broadcast is a sum), the builder of one is in a file below both, such as `reduction_builders.py`.
"""

import importlib
import pkgutil

for _found in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_found.name)

importlib.import_module(f"{__name__}.own").note()
