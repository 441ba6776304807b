"""Local rewrites that make StableHLO what a person would have written: one small pattern each.

A pattern is a function from an op and its operands to a value for its result, for a kind of
operation in each file:

    @rewrites(shape.Transpose)
    def transpose_of_transpose(op: shape.Transpose, x: Value) -> Value | None:
        '''transpose(transpose(x)) -> transpose(x)'''
        inner = made_by(x, shape.Transpose)
        ...

What it returns has the same elements for all operands, nan and inf included. Of floats there are
two exceptions, which XLA makes too: the terms of a sum may be added in another order, and a zero
that adding or subtracting gives may have the other sign. A pattern must lead downhill (fewer
operations, or smaller ones): patterns are applied until none applies.
"""

from irax_compiler.passes.simplify.simplify import PATTERNS, Simplify

__all__ = ["PATTERNS", "Simplify"]
