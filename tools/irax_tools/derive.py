"""The functions that `irax grad`, `vjp`, `jvp`, `jacobian` and `vmap` make of a function.

Each is a module whose one public function is @main, and as simple as the passes make it: so one
command's output is another's input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import api, mlir
from irax_compiler.mlir import InsertionPoint, Module
from irax_compiler.ops import core
from irax_compiler.ops.structured import call_function
from irax_tools.sources import Source

TIDY = (
    api.INLINE,
    api.REMOVE_DEAD_FUNCTIONS,
    api.Simplify(),
    api.Canonicalize(),
    api.CSE,
    api.REMOVE_DEAD_FUNCTIONS,
)

After = Callable[[str, Module, str], None]
"""Called after each step with its name, the module, and the function that it is about."""


def grad(
    source: Source,
    wrt: Sequence[int] | None,
    value: bool = False,
    after: After | None = None,
) -> Source:
    """The gradient of a function of one real scalar with respect to the arguments in `wrt` (None:
    all those of floating-point types), after its value if asked for.

    Raises PassError where the function has another result.
    """
    name = source.func
    function = api.find_function(source.module, name)
    types: list[Any] = mlir.result_types(function)
    dtypes = [mlir.dtype_of_type(t) for t in types]
    if len(types) != 1 or types[0].shape or not mlir.inexact(dtypes[0]) or dtypes[0].kind == "c":
        raise api.PassError(
            f"@{name} returns ({', '.join(map(str, types))}); a gradient is of one real scalar, "
            "such as tensor<f32>. Use `irax vjp`, which takes a cotangent for each result"
        )

    def add_gradient(module: Module) -> str:
        vjp = api.vjp(module, name, _checked(source, wrt)).name
        if after is not None:
            after("vjp", module, vjp)
        inputs = [a.type for a in mlir.arguments(function)]
        unique = mlir.unique_name(module, f"{name}.grad")
        gradient = mlir.new_function(module, unique, inputs, function.location, public=True)
        with InsertionPoint(mlir.body(gradient)), mlir.named("grad", function.location):
            one = core.full((), 1, dtypes[0])
            arguments = [*mlir.arguments(gradient), one]
            results = call_function(mlir.functions(module), vjp, arguments)
        mlir.finish_function(gradient, results if value else results[1:])
        return unique

    return _derived(source, add_gradient, "grad", after)


def vjp(source: Source, wrt: Sequence[int] | None) -> Source:
    """The function of the arguments and a cotangent for each result that returns the results and
    the cotangents of the arguments in `wrt`.
    """
    checked = _checked(source, wrt)
    return _derived(source, lambda m: api.vjp(m, source.func, checked).name, "vjp")


def jvp(source: Source, wrt: Sequence[int] | None) -> Source:
    """The function of the arguments and tangents of those in `wrt` that returns the results and
    their tangents.
    """
    checked = _checked(source, wrt)
    return _derived(source, lambda m: api.jvp(m, source.func, checked).name, "jvp")


def jacobian(source: Source, wrt: Sequence[int] | None, sparse: bool = False) -> Source:
    """The function of the arguments that returns the Jacobian with respect to those in `wrt`: a
    matrix or, if `sparse`, its elements, their rows and their columns.
    """
    checked = _checked(source, wrt)

    def add_jacobian(module: Module) -> str:
        return api.derive_jacobian(module, source.func, checked, dense=not sparse).name

    return _derived(source, add_jacobian, "jacobian")


def sparsity(source: Source, wrt: Sequence[int] | None) -> Any:
    """The pattern of the Jacobian with respect to the arguments in `wrt`: a matrix of booleans, of
    `scipy.sparse`.
    """
    module = mlir.clone_module(source.module)
    return api.pattern_of(module, source.func, _checked(source, wrt))


def vmap(
    source: Source,
    size: int,
    in_axes: Sequence[int | None] | None = None,
    out_axes: Sequence[int | None] | None = None,
    axis_name: str = "",
    after: After | None = None,
) -> Source:
    """The function that does `size` times what the function does, along an axis of each argument
    (None: the same for all), and puts the results together along `out_axes`. Collectives over
    `axis_name` are between the lanes.
    """
    api.check_mapped(in_axes)

    def add_lanes(module: Module) -> str:
        return api.batch(module, source.func, size, in_axes, out_axes, axis_name).name

    return _derived(source, add_lanes, f"batch{{size={size}}}", after)


def _checked(source: Source, wrt: Sequence[int] | None) -> tuple[int, ...]:
    active = api.active_arguments(api.find_function(source.module, source.func), wrt)
    if not any(active):
        raise api.PassError(f"@{source.func} has no argument of a floating-point or complex type")
    return tuple(i for i, is_active in enumerate(active) if is_active)


def _derived(
    source: Source, add: Callable[[Module], str], step: str, after: After | None = None
) -> Source:
    """A new module with what `add` adds to a copy, and names, as @main."""
    module = mlir.clone_module(source.module)
    result = mlir.new_module()
    name = add(module)
    if after is not None:
        after(step, module, name)
    derived = mlir.copy_functions(module, name, result)[name]
    mlir.make_public(mlir.functions(result)[derived])
    api.run_passes(result, TIDY, None if after is None else lambda n, m: after(n, m, derived))
    _rename(result, derived, "main")
    return Source(result, "main")


def _rename(module: Module, old: str, new: str) -> None:
    """Renames a public function, and one that has its new name already."""
    names = {name: name for name in mlir.functions(module)}
    if new in names and old != new:
        names[new] = mlir.unique_name(module, new)
    names[old] = new
    for name, function in mlir.functions(module).items():
        function.attributes["sym_name"] = mlir.string(names[name])
        for reference in mlir.references(function):
            mlir.rename_functions(reference, names)
