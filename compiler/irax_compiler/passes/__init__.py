"""The passes. Each rewrites a module into a module.

A pass is in the file of its name in one of the rooms, and is found there: `outline-components` in
`optimize/outline_components.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pkgutil import iter_modules

from irax_compiler import extensions
from irax_compiler.importing import alone, import_module
from irax_compiler.once import once
from irax_compiler.passes.core import PASSES, Pass, PassError

__all__ = ["Pass", "PassError", "by_name", "imported"]


@once
def by_name() -> Mapping[str, type[Pass]]:
    """Return all passes by name. They are imported when first asked for, because tracing needs few
    of them.

    >>> by_name()["vjp"].name
    'vjp'
    """
    with alone():
        for room in _rooms():
            for file in iter_modules(import_module(room).__path__):
                import_module(f"{room}.{file.name}")
    extensions.load("irax.passes")
    return PASSES


def imported(name: str) -> type[Pass]:
    """Return a pass of irax's by its name, and import no other. Raise PassError if there is none.

    >>> imported("outline-components").__module__
    'irax_compiler.passes.optimize.outline_components'
    """
    if name not in PASSES:
        file = name.replace("-", "_")
        with alone():
            module = next((m for room in _rooms() if find_spec(m := f"{room}.{file}")), None)
            if module is None:
                raise PassError(f"{name}: no room of the passes has a file {file}.py")
            import_module(module)
    return PASSES[name]


def _rooms() -> Iterator[str]:
    return (f"{__name__}.{room.name}" for room in iter_modules(__path__) if room.ispkg)
