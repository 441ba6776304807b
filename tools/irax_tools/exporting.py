"""`irax compile -o FILE.irax`: functions in files that irax_runtime runs by itself."""

from __future__ import annotations

from irax import export, jit
from irax.execution.jitted import PjitFunction
from irax_tools import sources


def export_source(
    source: str, arguments: str | None, func: str | None, platform: str
) -> export.Exported:
    """The function that MODULE or FILE.py:FUNCTION names, with the pytrees that a Python function
    takes and returns.
    """
    if sources.is_python(source) and func is None:
        file, _, name = source.rpartition(":")
        function, args = sources.python_function(file, name, arguments)
        jitted = function if isinstance(function, PjitFunction) else jit(function)
        return export.export(jitted, platforms=[platform])(*args)
    loaded = sources.load(source, arguments, func)
    return export.of_module(loaded.module, loaded.func, [platform])
