"""Commands that write derivatives and batched forms of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irax_tools import options

if TYPE_CHECKING:
    from irax_tools.sources import Source


@options.command(
    summary="Write the gradient of a function.",
    example="irax grad in.mlir --wrt 0 --value | irax run --input x.npy --input x.npy",
)
@options.source
@options.arguments
@options.func
@options.wrt
@click.option("--value", is_flag=True, help="Return the function's value too, before the gradient.")
@options.output
@options.locations
def grad(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    value: bool,
    output: str,
    locations: bool,
) -> None:
    """Write the gradient of a function that returns one real scalar, as @main.

    It takes the function's arguments.
    """
    from irax_tools import derive, sources

    loaded = sources.load(source, arguments, func)
    _write(derive.grad(loaded, wrt, value), output, locations)


@options.command(
    summary="Write the reverse-mode derivative of a function.",
    example="irax vjp in.mlir --wrt 0,1 -o pullback.mlir",
)
@options.source
@options.arguments
@options.func
@options.wrt
@options.output
@options.locations
def vjp(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    output: str,
    locations: bool,
) -> None:
    """Write the reverse-mode derivative of a function, as @main.

    It takes the function's arguments and a cotangent for each result of a floating-point or complex
    type, and returns the results and the arguments' cotangents.
    """
    from irax_tools import derive, sources

    _write(derive.vjp(sources.load(source, arguments, func), wrt), output, locations)


@options.command(
    summary="Write the forward-mode derivative of a function.",
    example="irax grad in.mlir --wrt 0 | irax jvp --wrt 0 -o hessian_vector.mlir",
)
@options.source
@options.arguments
@options.func
@options.wrt
@options.output
@options.locations
def jvp(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    output: str,
    locations: bool,
) -> None:
    """Write the forward-mode derivative of a function, as @main.

    It takes the function's arguments and a tangent for each of those in --wrt, and returns the
    results and the tangents of those of floating-point and complex types.
    """
    from irax_tools import derive, sources

    _write(derive.jvp(sources.load(source, arguments, func), wrt), output, locations)


@options.command(
    summary="Write the Jacobian of a function.",
    example="irax jacobian in.mlir --sparse -o elements_rows_columns.mlir",
)
@options.source
@options.arguments
@options.func
@options.wrt
@click.option(
    "--sparse",
    is_flag=True,
    help="Return the elements that can be other than zero, their rows and their columns.",
)
@options.output
@options.locations
def jacobian(
    source: str,
    arguments: str | None,
    func: str | None,
    wrt: tuple[int, ...] | None,
    sparse: bool,
    output: str,
    locations: bool,
) -> None:
    """Write the Jacobian of a function, as @main.

    It takes the function's arguments. A row is an element of the results, a column one of the
    arguments, one array after the other. A sparse one takes a tangent for each group of columns
    that share no row.
    """
    from irax_tools import derive, sources

    _write(derive.jacobian(sources.load(source, arguments, func), wrt, sparse), output, locations)


@options.command(
    summary="Write the batched form of a function.",
    example="irax grad in.mlir --wrt 0 | irax vmap --in-axes 0,None --size 8",
)
@options.source
@options.arguments
@options.func
@click.option("--size", type=click.IntRange(min=1), required=True, help="The number of lanes.")
@options.in_axes
@click.option(
    "--out-axes",
    metavar="0,1",
    type=options.Numbers(or_none=True),
    help="Where each result has its mapped axis.  [default: 0]",
)
@click.option(
    "--axis-name",
    default="",
    metavar="NAME",
    help="The axis's name, for collectives over it: they become operations on the mapped axis.",
)
@options.output
@options.locations
def vmap(
    source: str,
    arguments: str | None,
    func: str | None,
    size: int,
    in_axes: tuple[int | None, ...] | None,
    out_axes: tuple[int | None, ...] | None,
    axis_name: str,
    output: str,
    locations: bool,
) -> None:
    """Write the batched form of a function, as @main: it maps the function over an axis."""
    from irax_tools import derive, sources

    loaded = sources.load(source, arguments, func)
    _write(derive.vmap(loaded, size, in_axes, out_axes, axis_name), output, locations)


def _write(source: Source, output: str, locations: bool) -> None:
    from irax_compiler import mlir
    from irax_tools.files import write_file

    if output.endswith(".mlirbc"):
        write_file(output, mlir.bytecode(source.module))
        return
    write_file(output, mlir.text_of(source.module.operation, locations))
