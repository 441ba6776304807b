"""`irax compile -o FILE.irax`: functions in files that irax_runtime runs by itself."""

from __future__ import annotations

from irax import export, jit, tree_util
from irax.ir import LoadedFunction
from irax.jit import JitFunction
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
        jitted = function if isinstance(function, JitFunction) else jit(function)
        return export.export(jitted, platforms=[platform])(*args)
    loaded = sources.load(source, arguments, func)
    called = LoadedFunction(loaded.module, loaded.func, None)
    inputs = tree_util.tree_structure(((0,) * len(called.inputs), {}))
    outputs = tree_util.tree_structure((0,) * len(called.outputs))
    avals = called.inputs, called.outputs
    return export.Exported(loaded.module, loaded.func, avals, (inputs, outputs), [platform])
