"""Modules with `?` in types, as JAX and others export them: sizes that are not known get names.

Each `?` of an argument is a variable. What a module computes from sizes is followed through its
arithmetic, and the operands of StableHLO's dynamic operations become symbolic parameters. What it
asserts of sizes becomes constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.core import Op, UnsupportedOp, full
from irax_compiler.ops.evaluation.steps import inputs
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.window_shapes import GATHER_NUMBERS
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import INLINE, REMOVE_DEAD_FUNCTIONS, nested
from irax_compiler.sizes import Size, SymbolicScope, larger, smaller
from irax_compiler.sizes.comparison import bounds
from irax_compiler.sizes.parsing import parse_size

_I32 = np.dtype(np.int32)
MOST = 64
"""The most elements of an array of integers that may be sizes."""


def has_unknown_sizes(module: Module) -> bool:
    """True for a module with a function that takes arrays with `?` in their types."""
    return any(map(is_unknown, mlir.functions(module).values()))


def is_unknown(function: Operation) -> bool:
    """True for a function with `?` in its types, without names for these sizes."""
    blocks = function.regions[0].blocks
    return len(blocks) == 1 and (
        any(map(_has_unknown_size, blocks[0].arguments))
        or any(_has_unknown_size(x) for o in nested(function) for x in o.results)
    )


def _has_unknown_size(value: Any) -> bool:
    type_ = value.type
    is_tensor = isinstance(type_, mlir.RankedTensorType)
    return is_tensor and type_.encoding is None and UNKNOWN_SIZE in type_.shape


def with_names(module: Module, names: Sequence[Sequence[str]] | None = None) -> Module:
    """Return a module in which sizes have names, with its public functions. `names` are the sizes
    of the arguments of its functions, as text; without them, sizes have names of irax's.

    Raises:
        UnsupportedOp: a size depends on the elements of arrays, or an operation is not supported
            for unknown sizes.
    """
    flat = mlir.clone_module(module)
    INLINE.run(flat)
    REMOVE_DEAD_FUNCTIONS.run(flat)
    named = mlir.new_module()
    for name, function in mlir.functions(flat).items():
        if not is_unknown(function):
            function.clone(ip=mlir.InsertionPoint(named.body))
            continue
        draft = Naming(mlir.new_module(), function, SymbolicScope(), names)
        draft.run(name)
        Naming(named, function, SymbolicScope(draft.constraints), names).run(name)
    named.operation.verify()
    return named


class Sizes(Protocol):
    """Tells the sizes that operations have as operands."""

    values: dict[Value, Value]
    """The operands that are no sizes, by those of the module that is read."""

    def sizes(self, operation: Operation, number: int) -> tuple[Any, ...]:
        """The sizes that an operand has as its elements."""
        ...

    def size(self, operation: Operation) -> Any:
        """The size of the dimension that an operation names."""
        ...


class Naming:
    """Builds a function anew, in which sizes have names."""

    def __init__(
        self,
        module: Module,
        source: Operation,
        scope: SymbolicScope,
        names: Sequence[Sequence[str]] | None = None,
    ) -> None:
        self.module = module
        self._names = names
        self.source = source
        self.scope = scope
        self.constraints: list[str] = []
        """The assertions that were found, as text."""
        self.values: dict[Value, Value] = {}
        self.known: dict[Value, np.ndarray] = {}
        """Integers that follow from sizes."""
        self.compared: dict[Value, str] = {}
        """Comparisons of sizes, as text."""
        self.refuted: dict[Value, str] = {}
        """Comparisons of numbers that do not hold, as text."""

    def run(self, name: str) -> None:
        """Build the function."""
        arguments = mlir.arguments(self.source)
        types = [
            mlir.tensor_type(extents, mlir.dtype_of(x))
            for x, extents in zip(arguments, self.shapes(), strict=True)
        ]
        function = mlir.new_function(self.module, name, types, self.source.location, public=True)
        self.values = dict(zip(arguments, mlir.arguments(function), strict=True))
        with mlir.InsertionPoint(mlir.body(function)):
            results = self._build_all(mlir.body(self.source))
        mlir.finish_function(function, results)

    def shapes(self) -> list[tuple[Any, ...]]:
        """The shapes of arguments, in which each `?` is a variable."""
        return [
            tuple(
                self._size(x, d) if n == UNKNOWN_SIZE else n
                for d, n in enumerate(x.type.shape)  # pyright: ignore
            )
            for x in mlir.arguments(self.source)
        ]

    def _size(self, argument: Value, dimension: int) -> Any:
        """The size of a `?`: the one that is given, or a name with its number among all."""
        if self._names is not None and len(self._names) == len(mlir.arguments(self.source)):
            number = mlir.arguments(self.source).index(argument)
            return parse_size(self._names[number][dimension], self.scope)
        return self.scope.variable(f"d{self._number(argument, dimension)}")

    def _build_all(self, block: Block) -> list[Value]:
        """Build the operations of a block at the insertion point; return what it returns."""
        *operations, last = (view.operation for view in block.operations)
        for operation in operations:
            with operation.location:
                self._build(operation)
        return [self.values[v] for v in last.operands]

    def _number(self, argument: Value, dimension: int) -> int:
        """The number of a `?` among those of all arguments."""
        places = [
            (x, d)
            for x in mlir.arguments(self.source)
            for d, n in enumerate(x.type.shape)  # pyright: ignore
            if n == UNKNOWN_SIZE
        ]
        return places.index((argument, dimension))

    def _build(self, operation: Operation) -> None:
        if operation.name == "stablehlo.custom_call":
            target: Any = operation.attributes["call_target_name"]
            if target.value == "shape_assertion":
                self._assert(operation)
                return
        if len(operation.regions) and traits_of(operation).captures:
            self._build_regions(operation)
            return
        operands = [self.values[v] for v in operation.operands]
        form = form_of(operation)
        if form is None:
            op = read(operation)
            results = op.build([self.values[v] for v in inputs(op, operation)])
        else:
            op, count = form(self, operation)
            results = [full((), op, _I32)] if count == 0 else op.build(operands[:count])
        self.values.update(zip(operation.results, results, strict=True))
        self._follow(operation)

    def _build_regions(self, operation: Operation) -> None:
        """Build a loop or branches, whose regions use values from outside."""
        operands = [self.values[v] for v in operation.operands]
        carried = [x.type for x in operands] if operation.name == "stablehlo.while" else []
        self._follow_carried(operation)
        returned: list[list[Value]] = []
        draft = mlir.emit(operation.name, operands, {}, carried, len(operation.regions))
        for region, there in zip(operation.regions, draft.regions, strict=True):
            block = mlir.Block.create_at_start(there, carried)
            self.values.update(zip(region.blocks[0].arguments, block.arguments, strict=True))
            with mlir.InsertionPoint(block), operation.location:
                returned.append(self._build_all(region.blocks[0]))
                mlir.emit("stablehlo.return", returned[-1], {}, [])
        types = [x.type for x in returned[-1]]
        made = mlir.emit(operation.name, operands, {}, types, len(operation.regions))
        for region, there in zip(draft.regions, made.regions, strict=True):
            region.blocks[0].append_to(there)
        draft.erase()
        self.values.update(zip(operation.results, made.results, strict=True))

    def _follow_carried(self, operation: Operation) -> None:
        """Find the sizes that a loop carries unchanged."""
        if operation.name != "stablehlo.while":
            return
        condition, body = (region.blocks[0] for region in operation.regions)
        for i, x in enumerate(mlir.terminator(body).operands):
            start = self.known.get(operation.operands[i])
            if x == body.arguments[i] and start is not None:
                places = condition.arguments[i], body.arguments[i], operation.results[i]
                self.known.update(dict.fromkeys(places, start))

    # -- sizes --

    def sizes(self, operation: Operation, number: int) -> tuple[Any, ...]:
        """The sizes that an operand has as its elements."""
        found = self.known.get(operation.operands[number])
        if found is None:
            raise _unsupported(operation, f"its operand {number} does not follow from sizes")
        return tuple(n if isinstance(n, Size) else int(n) for n in found.ravel().tolist())

    def size(self, operation: Operation) -> Any:
        """The size that `get_dimension_size` asks for."""
        dimension: Any = operation.attributes["dimension"]
        return mlir.shape_of(self.values[operation.operands[0]])[dimension.value]

    def _follow(self, operation: Operation) -> None:
        """Find the integers that an operation computes from known ones."""
        if len(operation.results) != 1 or _has_unknown_size(operation.results[0]):
            return
        (result,) = operation.results
        extents = mlir.shape_of(result)
        if operation.name == "stablehlo.compare":
            self._compare(operation)
        if operation.name in _DECIDED and extents == ():
            found = _DECIDED[operation.name](
                operation, [self.known.get(v) for v in operation.operands]
            )
            if found is not None:
                self.known[result] = found
            return
        is_whole = mlir.dtype_of(result).kind in "iu"
        if not (is_whole or _is_float64(result)) or np.prod(extents, dtype=int) > MOST:
            return
        if operation.name == "stablehlo.constant":
            numbers = mlir.dense_to_numpy(operation)
            if is_whole or bool(np.all(np.isfinite(numbers) & (numbers == np.trunc(numbers)))):
                self.known[result] = _object(extents, [int(n) for n in numbers.ravel()])
        elif operation.name == "stablehlo.get_dimension_size":
            self.known[result] = _object((), [self.size(operation)])
        elif operation.name in _FOLLOWED:
            given = [self.known.get(v) for v in operation.operands]
            if all(x is not None for x in given):
                found = _FOLLOWED[operation.name](operation, *given)
                if found is not None:
                    self.known[result] = np.broadcast_to(found, extents)

    def _compare(self, operation: Operation) -> None:
        direction = mlir.attribute_text(operation.attributes["comparison_direction"])
        sign = {"GE": ">=", "LE": "<=", "EQ": "=="}.get(direction.split()[-1].rstrip(">"))
        given = [self.known.get(v) for v in operation.operands]
        if sign and all(x is not None and not x.shape for x in given):
            x, y = (v.item() for v in given if v is not None)
            if isinstance(x, Size) or isinstance(y, Size):
                x, y = (x, y) if isinstance(x, Size) and len(x.terms) == 1 else (x - y, 0)
                self.compared[operation.results[0]] = f"{x} {sign} {y}"
            elif not {">=": x >= y, "<=": x <= y, "==": x == y}[sign]:
                self.refuted[operation.results[0]] = f"{x} {sign} {y}"

    def _assert(self, operation: Operation) -> None:
        refuted = self.refuted.get(operation.operands[0])
        if refuted is not None:
            raise ValueError(f"{refuted} does not hold, which {operation.location} asserts")
        stated = self.compared.get(operation.operands[0])
        if stated is not None and stated not in self.constraints:
            self.constraints.append(stated)


def _unsupported(operation: Operation, why: str) -> UnsupportedOp:
    return UnsupportedOp(
        f"{operation.name} at {operation.location} is of dynamic shape, and {why}: not supported; "
        "expected sizes that follow from those of arguments"
    )


def _object(extents: tuple[int, ...], values: Sequence[Any]) -> np.ndarray:
    found = np.empty(extents, object)
    flat = found.reshape(-1)
    for i, value in enumerate(values):  # all at once, NumPy would ask them for their elements
        flat[i] = value
    return found


# ---- the arithmetic of sizes ---------------------------------------------------------------------


def _each(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def apply(operation: Operation, x: Any, y: Any) -> Any:
        return _object(x.shape, [function(*pair) for pair in zip(x.flat, y.flat, strict=True)])

    return apply


def _quotient(operation: Operation, x: Any, y: Any) -> Any:
    """The quotient, or the remainder, of sizes that are not negative."""
    if _is_float64(operation.results[0]):
        return x if operation.name == "stablehlo.divide" and all(n == 1 for n in y.flat) else None
    if any(bounds(n)[0] < least for v, least in ((x, 0), (y, 1)) for n in v.ravel()):
        return None
    is_quotient = operation.name == "stablehlo.divide"
    return _each(lambda a, b: a // b if is_quotient else a % b)(operation, x, y)


def _is_float64(x: Value) -> bool:
    """True for numbers of float64, by which torch-mlir computes the sizes of ranges."""
    return mlir.dtype_of(x) == np.float64


def _same(operation: Operation, x: Any) -> Any:
    return x.reshape(mlir.shape_of(operation.results[0]))


def _spread(operation: Operation, x: Any) -> Any:
    return x.reshape(()) if x.size == 1 else None


def _joined(operation: Operation, *xs: Any) -> Any:
    along: Any = operation.attributes["dimension"]
    return np.concatenate(xs, along.value)


def _sign(operation: Operation, x: Any) -> Any:
    signs = [1 if bounds(n)[0] > 0 else -1 if bounds(n)[1] < 0 else None for n in x.ravel()]
    return None if None in signs else _object(x.shape, signs)


def _compared(operation: Operation, given: Sequence[Any]) -> Any:
    """True or False, where that holds for all sizes."""
    x, y = (None if v is None else v.item() for v in given)
    if x is None or y is None:
        return None
    least, most = bounds(x - y)
    direction = mlir.attribute_text(operation.attributes["comparison_direction"])
    how = direction.split()[-1].rstrip(">")
    never = {"LT": least >= 0, "LE": least > 0, "GT": most <= 0, "GE": most < 0}
    never["EQ"] = never["LE"] or never["GE"]
    always = {a: never[b] for a, b in (("LT", "GE"), ("GE", "LT"), ("GT", "LE"), ("LE", "GT"))}
    always["EQ"] = least == most == 0
    never["NE"], always["NE"] = always["EQ"], never["EQ"]
    if not (never[how] or always[how]):
        return None
    return _object((), [int(always[how])])


def _both(operation: Operation, given: Sequence[Any]) -> Any:
    found = [None if v is None else v.item() for v in given]
    if 0 in found:
        return _object((), [0])
    return None if None in found else _object((), [1])


def _selected(operation: Operation, given: Sequence[Any]) -> Any:
    test, x, y = given
    return None if test is None else (x if test.item() else y)


_DECIDED: dict[str, Callable[..., Any]] = {
    "stablehlo.and": _both,
    "stablehlo.compare": _compared,
    "stablehlo.select": _selected,
}
"""The operations on scalars that some operands may decide, by which quotients are rounded down."""

_FOLLOWED: dict[str, Callable[..., Any]] = {
    "stablehlo.add": _each(lambda x, y: x + y),
    "stablehlo.subtract": _each(lambda x, y: x - y),
    "stablehlo.multiply": _each(lambda x, y: x * y),
    "stablehlo.maximum": _each(larger),
    "stablehlo.minimum": _each(smaller),
    "stablehlo.divide": _quotient,
    "stablehlo.remainder": _quotient,
    "stablehlo.sign": _sign,
    **dict.fromkeys(("stablehlo.ceil", "stablehlo.floor", "stablehlo.convert"), _same),
    "stablehlo.reshape": _same,
    "stablehlo.broadcast_in_dim": _spread,
    "stablehlo.concatenate": _joined,
}
"""The operations that sizes are computed by."""


# ---- operations whose operands are sizes ---------------------------------------------------------


def _dims(operation: Operation) -> tuple[int, ...]:
    dimensions: Any = operation.attributes["broadcast_dimensions"]
    return tuple(dimensions)


def _iota(of: Sizes, operation: Operation) -> tuple[Op, int]:
    along: Any = operation.attributes["iota_dimension"]
    dtype = mlir.dtype_of(operation.results[0])
    return shape.Iota(of.sizes(operation, 0), dtype, along.value), -len(operation.operands)


def _slice(of: Sizes, operation: Operation) -> tuple[Op, int]:
    return slicing.Slice(*(of.sizes(operation, i) for i in (1, 2, 3))), 1


def _pad(of: Sizes, operation: Operation) -> tuple[Op, int]:
    return slicing.Pad(*(of.sizes(operation, i) for i in (2, 3, 4))), 2


def _gather(of: Sizes, operation: Operation) -> tuple[Op, int]:
    dims = GATHER_NUMBERS.decode(operation.attributes["dimension_numbers"])
    return Gather(dims, of.sizes(operation, 2), indices_are_sorted=False), 2


@dataclass(frozen=True)
class _Padded:
    """A convolution of an array that is padded before: its own padding cannot be symbolic."""

    op: Convolution
    padding: list[tuple[Any, Any]]

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        x, kernel = operands
        spatial = self.op.dimensions.lhs[2:]
        low, high, interior = ([0] * len(mlir.shape_of(x)) for _ in range(3))
        for d, pair, n in zip(spatial, self.padding, self.op.lhs_dilation, strict=True):
            (low[d], high[d]), interior[d] = pair, n - 1
        pad = slicing.Pad(tuple(low), tuple(high), tuple(interior))
        wide = pad(x, full((), 0, mlir.dtype_of(x)))
        ones, zeros = (1,) * len(spatial), ((0, 0),) * len(spatial)
        return replace(self.op, padding=zeros, lhs_dilation=ones).build([wide, kernel])


def _reduce_window(of: Sizes, operation: Operation) -> tuple[Op, int]:
    """A reduction of windows, a custom call whose last five operands say where they are."""
    count = len(operation.operands) - 5
    sizes, strides, base, dilations, pairs = (of.sizes(operation, count + i) for i in range(5))
    padding = tuple(zip(pairs[::2], pairs[1::2], strict=True))
    called: Any = operation.attributes["called_computations"]
    block = mlir.body(mlir.function_beside(operation, called[0].value))
    combiner = reduce.combiner_of(block) if count == 2 else None
    window = Window(sizes, strides, base, dilations, padding)
    return ReduceWindow(combiner or Computation.of(block), window), count


def _convolution(of: Sizes, operation: Operation) -> tuple[Any, int]:
    op = Convolution.read(operation)
    assert isinstance(op, Convolution)
    sizes = of.sizes(operation, 2)
    return _Padded(op, list(zip(sizes[::2], sizes[1::2], strict=True))), 2


def _bits(of: Sizes, operation: Operation) -> tuple[Op, int]:
    own, type_ = mlir.shape_of(of.values[operation.operands[0]]), operation.results[0].type
    extents: Any = type_.shape  # pyright: ignore
    shape_ = own[: len(extents)] + tuple(extents[len(own) :])
    return BitcastConvert(shape_, mlir.dtype_of(operation.results[0])), 1


DYNAMIC: dict[str, Callable[[Sizes, Operation], tuple[Any, int]]] = {
    "stablehlo.get_dimension_size": lambda of, o: (of.size(o), 0),
    "stablehlo.dynamic_broadcast_in_dim": lambda of, o: (
        shape.BroadcastInDim(of.sizes(o, 1), _dims(o)),
        1,
    ),
    "stablehlo.dynamic_reshape": lambda of, o: (shape.Reshape(of.sizes(o, 1)), 1),
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.real_dynamic_slice": _slice,
    "stablehlo.dynamic_pad": _pad,
    "stablehlo.dynamic_gather": _gather,
    "stablehlo.dynamic_conv": _convolution,
    "stablehlo.bitcast_convert": _bits,
}
"""The ops that operations are, by name, with the number of operands that are no sizes; a size and 0
for the value of one."""

CALLS: dict[str, Callable[[Sizes, Operation], tuple[Any, int]]] = {
    "stablehlo.dynamic_reduce_window": _reduce_window,
}
"""The ops that custom calls are, by their targets, in the same way."""


def form_of(operation: Operation) -> Callable[[Sizes, Operation], tuple[Any, int]] | None:
    """Return how an operation of dynamic shape is read; None for one of static shape."""
    if operation.name != "stablehlo.custom_call":
        return DYNAMIC.get(operation.name)
    target: Any = operation.attributes["call_target_name"]
    return CALLS.get(target.value)
