"""Simplifications: local rewrite patterns that remove redundant StableHLO.

A pattern is a function from an op and its operands to a replacement of its result. Each file has
the patterns of a kind of operation:

    @rewrites(shape.Transpose)
    def transpose_of_transpose(op: shape.Transpose, x: Value) -> Value | None:
        '''transpose(transpose(x)) -> transpose(x)'''
        inner = made_by(x, shape.Transpose)
        ...

The replacement has the same elements for all operands, nan and inf included. There are two
exceptions for floats, which XLA makes too: the terms of a sum may be added in another order, and a
sum or difference that is zero may have the other sign. Each pattern must make operations fewer,
smaller or simpler, for patterns are applied until none applies.
"""

from irax_compiler.passes.optimize.simplify.simplify import PATTERNS, Simplify

__all__ = ["PATTERNS", "Simplify"]
