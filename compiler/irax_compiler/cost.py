"""What a function costs: floating-point operations, and bytes read and written.

Counted in StableHLO, each operation for itself: a target fuses operations, so that it reads and
writes less. A loop that counts to a constant is its body so many times, any other loop one step of
it; of branches the dearest counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, dtype_of, shape_of
from irax_compiler.ops import composite, convolution, dot, loops, scan
from irax_compiler.ops.core import UnsupportedOp, read
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.passes.core import find_function

TRANSCENDENTAL = {
    f"stablehlo.{name}"
    for name in (
        *("atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one"),
        *("logistic", "power", "rsqrt", "sine", "sqrt", "tan", "tanh"),
    )
}
_FREE = {"stablehlo.constant", "stablehlo.reshape", "func.return", "stablehlo.return"}
_NOT_ARITHMETIC = {"stablehlo.real", "stablehlo.imag", "stablehlo.complex"}


@dataclass(frozen=True)
class Cost:
    """The cost of an operation, or of many."""

    flops: float = 0
    """Arithmetic on elements, comparisons included."""
    transcendentals: float = 0
    """Elements of sines, exponentials, roots and the like; not among the flops."""
    bytes: float = 0
    """Those of the operands and results of each operation."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes + other.bytes,
        )

    def times(self, count: float) -> Cost:
        """The cost of doing it so often."""
        return Cost(self.flops * count, self.transcendentals * count, self.bytes * count)


def cost_of(module: Module, func: str = "main") -> Cost:
    """The cost of one call of a function.

    Raises PassError where the module has no such function.

    >>> text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {"
    >>> text += "%0 = stablehlo.sine %x : tensor<3xf32> return %0 : tensor<3xf32> }"
    >>> cost_of(mlir.parse_module(text))
    Cost(flops=0, transcendentals=3, bytes=24)
    """
    find_function(module, func)
    return _Counter(mlir.functions(module)).function(func)


class _Counter:
    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self.functions = functions
        self.known: dict[str, Cost] = {}

    def function(self, name: str) -> Cost:
        if name not in self.known:
            self.known[name] = self.block(mlir.body(self.functions[name]))
        return self.known[name]

    def block(self, block: Block) -> Cost:
        total = Cost()
        for view in block.operations:
            total += self.operation(view.operation)
        return total

    def operation(self, operation: Operation) -> Cost:
        name = operation.name
        if name in _FREE:
            return Cost()
        if name == "func.call":
            return self.function(mlir.callee(operation))
        if name == "stablehlo.composite":
            return self.composite(operation)
        regions = [region.blocks[0] for region in operation.regions]
        if name == "stablehlo.while":
            step = self.block(regions[0]) + self.block(regions[1])
            count = loops.trip_count(operation, self.functions)
            return step.times(1 if count is None else count)
        if name in ("stablehlo.case", "stablehlo.if"):
            return max(map(self.block, regions), key=lambda c: (c.flops, c.bytes), default=Cost())
        moved = sum(map(_bytes, [*operation.operands, *operation.results]))
        if name in TRANSCENDENTAL or name.startswith("chlo."):
            return Cost(0, _size(operation.results[0]), moved)
        return Cost(self.flops(operation, regions), 0, moved)

    def composite(self, operation: Operation) -> Cost:
        try:
            op = read(operation)
        except UnsupportedOp:
            op = None
        if isinstance(op, scan.Scan):
            return self.function(op.body).times(op.length)
        return self.function(composite.decomposition_of(operation))

    def flops(self, operation: Operation, regions: list[Block]) -> float:
        """Those of an operation that is neither control flow nor transcendental."""
        operands, results = list(operation.operands), list(operation.results)
        match operation.name.removeprefix("stablehlo."):
            case "dot_general" | "dot":
                op: Any = read(operation)
                lhs = shape_of(operands[0])
                inner = (
                    op.dimensions.lhs_contracting
                    if isinstance(op, dot.DotGeneral)
                    else (len(lhs) - 1,)
                )
                return 2 * _size(results[0]) * math.prod(lhs[d] for d in inner)
            case "convolution":
                conv: Any = read(operation)
                assert isinstance(conv, convolution.Convolution)
                kernel = shape_of(operands[1])
                features = kernel[conv.dimensions.rhs[0]]
                return 2 * _size(results[0]) * math.prod(kernel) / max(features, 1)
            case "reduce":
                each = len(regions[0].operations) - 1
                return max(0, _size(operands[0]) - _size(results[0])) * each
            case "reduce_window":
                window: Any = operation.attributes["window_dimensions"]
                each = len(regions[0].operations) - 1
                return _size(results[0]) * (math.prod(window) - 1) * each
            case "scatter":
                return _size(operands[-1]) * (len(regions[0].operations) - 1)
            case "sort":
                along: Any = operation.attributes["dimension"]
                length = shape_of(operands[0])[along.value]
                return _size(operands[0]) * math.ceil(math.log2(max(length, 1)))
            case "fft":
                lengths: Any = operation.attributes["fft_length"]
                rows = max(map(_size, [operands[0], results[0]]))
                return 5 * rows * math.log2(max(math.prod(lengths), 1))
            case "cholesky":
                return _size(operands[0]) * shape_of(operands[0])[-1] / 3
            case "triangular_solve":
                return _size(operands[1]) * shape_of(operands[0])[-1]
            case _:
                return _size(results[0]) if _is_arithmetic(operation) else 0


def _is_arithmetic(operation: Operation) -> bool:
    if operation.name in _NOT_ARITHMETIC or not len(operation.results):
        return False
    try:
        op = read(operation)
    except UnsupportedOp:
        return False
    return isinstance(op, Elementwise) or operation.name in ("stablehlo.compare", "stablehlo.clamp")


def _size(value: Any) -> int:
    return math.prod(shape_of(value))


def _bytes(value: Any) -> int:
    return _size(value) * dtype_of(value).itemsize
