"""The pass dynamic-forms, which replaces operations that IREE compiles for known sizes alone."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler.mlir import Module, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.rewriting import rewrite_in_order, rewrites
from irax_compiler.passes.sizes.lowering import merging
from irax_compiler.passes.sizes.lowering.lowering import NotDynamic
from irax_compiler.sizes import is_symbolic


@rewrites(Elementwise)
def function_of_chlo(op: Elementwise, *operands: Value) -> Value | None:
    """Apply functions of CHLO to scalars in a `stablehlo.map`: MLIR expands those of arrays into
    operations on shapes.
    """
    extents = shape_of(operands[0])
    if not op.name.startswith("chlo.") or not any(map(is_symbolic, extents)):
        return None
    dtypes = [dtype_of(x) for x in operands]
    computation = Computation.build(dtypes, lambda *scalars: list(op.build(scalars)))
    return Map(computation, tuple(range(len(extents))))(*operands)


@rewrites(DotGeneral)
def product_without_free_dimensions(op: DotGeneral, x: Value, y: Value) -> Value | None:
    """Sum the products of elements: IREE makes such operands matrices of known size."""
    dims, rank = op.dimensions, len(shape_of(x))
    is_sized = _is_sized(x) or _is_sized(y)
    if not is_sized or dims.lhs_free(rank) or dims.rhs_free(len(shape_of(y))):
        return None
    left = shape.transpose(x, dims.lhs_batching + dims.lhs_contracting)
    right = shape.transpose(y, dims.rhs_batching + dims.rhs_contracting)
    left, right = (conversion.convert(z, op.dtype) for z in (left, right))
    contracted = tuple(range(len(dims.lhs_batching), rank))
    products = elementwise.multiply(left, right)
    return Reduce("add", contracted)(products, full((), 0, op.dtype))


FORMS = (
    function_of_chlo,
    product_without_free_dimensions,
    merging.sort_by_merging,
    merging.top_k_by_merging,
)


@register_pass
class DynamicForms(Pass):
    """Replaces operations of unknown size that IREE compiles for known sizes alone by others that
    it compiles for all. Functions have no calls when it runs.

    Raises:
        NotDynamic: MLIR expands an operation of CHLO for known sizes alone.
    """

    name: ClassVar[str] = "dynamic-forms"

    def run(self, module: Module) -> None:
        rewrite_in_order(module.operation, FORMS)
        for operation in nested(module.operation):
            if operation.name.startswith("chlo.") and any(map(_is_sized, operation.operands)):
                raise NotDynamic(
                    f"{operation.name} at {operation.location}: not compiled for sizes "
                    "that are not known"
                )


def _is_sized(x: Value) -> bool:
    return any(map(is_symbolic, shape_of(x)))
