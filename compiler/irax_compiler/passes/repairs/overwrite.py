"""The pass overwrite, which has kernels write over operands that nothing else reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.annotate import is_for_all_sizes
from irax_compiler.passes.kernels.executables import IN_PLACE
from irax_compiler.passes.kernels.ties import tie, ties
from irax_compiler.passes.repairs.flow.memory import unshaped
from irax_compiler.passes.repairs.update_carries_in_place.updates import updates

_DISPATCH, _GENERIC = "flow.dispatch", "linalg.generic"
_LOAD, _STORE = "iree_tensor_ext.dispatch.tensor.load", "iree_tensor_ext.dispatch.tensor.store"
_IDENTITY = re.compile(r"affine_map<\((.*)\) -> \(\1\)>")
_OTHERS = {"arith.constant", "tensor.empty", "func.return"}
"""Further operations that such kernels may have."""


@register_pass
class Overwrite(Pass):
    """Has elementwise kernels of IREE's dialect flow, and kernels of irax's whose attribute says
    that they can, write each result over an operand of the same type, if an earlier kernel made
    that operand and nothing else uses it, or if a loop carries that, and the result is its next
    value (`update_carries_in_place/updates.py`). IREE would give the result memory of its own.

    In an elementwise kernel, an element of the operand is read for the element of the result alone,
    so it is read before it is written over. No other dispatch may make the same operand: IREE
    merges dispatches that turn out to be equal, and takes those that do not vary out of loops, when
    it no longer sees that the result is written over.
    """

    name: ClassVar[str] = "overwrite"

    def run(self, module: Module) -> None:
        if is_for_all_sizes(module):
            return
        dispatches = _Dispatches(module)
        single: dict[Value, _Kernel] = {}
        """The kernels of dispatches that no other one has, by their first result."""
        for executable in [x.operation for x in module.body.operations]:
            kernel = _kernel_of(executable, dispatches.of)
            if kernel is None:
                continue
            chosen = _chosen(kernel, dispatches)
            own = dispatches.of[kernel.entry]
            if chosen:
                kernel.write_over(chosen)
                for dispatch in own:
                    tie(dispatch, {x.result: x.operand for x in chosen})
            elif len(own) == 1 and _is_plain(own[0], len(mlir.arguments(kernel.function))):
                single[own[0].results[0]] = kernel
        self._write_over_carried(module, single)

    def _write_over_carried(self, module: Module, kernels: Mapping[Value, _Kernel]) -> None:
        """Have kernels in loops write next values of arrays over these."""
        pairs = {x: {(y.result, y.operand): y for y in kernels[x].pairs} for x in kernels}
        chosen: dict[Value, list[_Pair]] = {}
        for dispatch, numbers in updates(module, lambda o: pairs.get(o.results[0], ())):
            first = dispatch.results[0]
            chosen.setdefault(first, []).append(pairs[first][numbers])
        for first, some in chosen.items():
            kernels[first].write_over(some)


@dataclass(frozen=True)
class _Pair:
    """A result of a kernel that may be written over an operand."""

    result: int
    operand: int
    """Their numbers among the dispatch's results and operands."""


@dataclass(frozen=True)
class _ElementwisePair(_Pair):
    """A result of an elementwise kernel of IREE's."""

    read: Operation
    """The operation that loads the operand."""
    write: Operation
    """The operation that stores the result."""


@dataclass(frozen=True)
class _Kernel:
    """A kernel of irax's, which may find a result in the memory of an operand."""

    function: Operation
    entry: str
    """Its name, as dispatches have it."""
    operands: int
    """The number of the operands of its dispatches."""

    @property
    def pairs(self) -> Sequence[_Pair]:
        """The results and operands that its attribute names."""
        attribute: Any = self.function.attributes[IN_PLACE]
        numbers = list(attribute)
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return [_Pair(result - self.operands, operand) for result, operand in pairs]

    def write_over(self, chosen: Sequence[Any]) -> None:
        """Have the kernel store these results in the memory of operands: they have no argument of
        their own any more.
        """
        body = mlir.body(self.function)
        arguments = list(body.arguments)
        for pair in chosen:
            result, operand = (arguments[x] for x in (self.operands + pair.result, pair.operand))
            result.replace_all_uses_with(operand)
        for number in sorted((self.operands + x.result for x in chosen), reverse=True):
            body.erase_argument(number)
        type_ = mlir.function_type([x.type for x in body.arguments], [])
        self.function.attributes["function_type"] = mlir.type_attribute(type_)
        del self.function.attributes[IN_PLACE]


@dataclass(frozen=True)
class _Elementwise(_Kernel):
    """An elementwise kernel of IREE's."""

    @property
    def pairs(self) -> Sequence[_ElementwisePair]:
        return list(_pairs(self.function))

    def write_over(self, chosen: Sequence[Any]) -> None:
        _write_over(self.function, chosen)


def _kernel_of(
    executable: Operation, dispatches: Mapping[str, Sequence[Operation]]
) -> _Kernel | None:
    """Return the kernel of an executable that is dispatched, if that has just one, and it may write
    over operands.
    """
    if executable.name not in ("flow.executable", "stream.executable"):
        return None
    inside = list(nested(executable))
    exports = [x for x in inside if x.name == f"{executable.name}.export"]
    functions = [x for x in inside if x.name == "func.func" and x.regions[0].blocks]
    if len(exports) != 1 or len(functions) != 1:
        return None
    entry = "@{}::@{}".format(*(mlir.function_name(x) for x in (executable, exports[0])))
    if entry not in dispatches:
        return None
    is_own = executable.name == "stream.executable"
    if is_own and IN_PLACE not in functions[0].attributes:
        return None
    kind = _Kernel if is_own else _Elementwise
    return kind(functions[0], entry, len(dispatches[entry][0].operands))


def _pairs(function: Operation) -> Iterator[_ElementwisePair]:
    """The results of a kernel and the operands that each may be written over."""
    operations = [x.operation for x in mlir.body(function).operations]
    generics = [x for x in operations if x.name == _GENERIC]
    stores = [x for x in operations if x.name == _STORE]
    known = {_GENERIC, _LOAD, _STORE, *_OTHERS}
    if len(generics) != 1 or any(x.name not in known for x in operations):
        return
    (generic,) = generics
    maps: Any = generic.attributes["indexing_maps"]
    kinds: Any = generic.attributes["iterator_types"]
    if any("parallel" not in str(kind) for kind in kinds):
        return
    count = len(maps) - len(generic.results)
    arguments = mlir.arguments(function)
    for store in stores:
        value, target = list(store.operands)
        made = mlir.definition(value)
        if made != generic or not _is_whole(target, value):
            continue
        number = _number(generic, value)
        for i, x in enumerate(list(generic.operands)[:count]):
            load = mlir.definition(x)
            if load is None or load.name != _LOAD or x.type != value.type:
                continue
            source = load.operands[0]
            is_read_once = mlir.num_uses(x) == mlir.num_uses(source) == 1
            is_same_place = str(maps[i]) == str(maps[count + number]) and _is_identity(maps[i])
            if is_read_once and is_same_place and _is_whole(source, x):
                place = arguments.index(target) - (len(arguments) - len(stores))
                yield _ElementwisePair(place, arguments.index(source), load, store)


def _is_whole(argument: Value, x: Value) -> bool:
    """True if a kernel loads or stores the whole array of an argument that it reads or writes."""
    kind = "!iree_tensor_ext.dispatch.tensor<{}:{}>"
    return str(argument.type) in [kind.format(k, x.type) for k in ("readonly", "writeonly")]


def _is_identity(map_: Any) -> bool:
    return _IDENTITY.fullmatch(str(map_)) is not None


def _chosen(kernel: _Kernel, dispatches: _Dispatches) -> list[_Pair]:
    """Return the pairs that are possible in all dispatches of a kernel, an operand once."""
    count, own = len(mlir.arguments(kernel.function)), dispatches.of[kernel.entry]
    found: list[_Pair] = []
    for pair in kernel.pairs:
        is_free = all(pair.result != x.result and pair.operand != x.operand for x in found)
        operands = [x.operands[pair.operand] for x in own if _is_plain(x, count)]
        if is_free and len(operands) == len(own):
            pairs = zip(operands, own, strict=True)
            if all(_is_own(x, user, dispatches) for x, user in pairs):
                found.append(pair)
    return found


def _is_plain(dispatch: Operation, count: int) -> bool:
    """True if a dispatch has nothing but operands and results, with an argument each."""
    entries: Any = dispatch.attributes["entry_points"]
    is_simple = len(entries) == 1 and not ties(dispatch)
    return is_simple and len(dispatch.operands) + len(dispatch.results) == count


def _number(operation: Operation, result: Value) -> int:
    results: list[Value] = list(operation.results)
    return results.index(result)


def _is_own(x: Value, user: Operation, dispatches: _Dispatches) -> bool:
    """True if `user` alone uses an array, which a kernel made in the same block in memory that is
    nothing else's.
    """
    while True:
        made = mlir.definition(x)
        if made is None or made.block != user.block or mlir.num_uses(x) != 1:
            return False
        if made.name == "flow.tensor.reshape":
            x, user = made.operands[0], made
            continue
        if made.name != _DISPATCH:
            return False
        tied = ties(made).get(_number(made, x))
        if tied is None:
            return dispatches.is_alone(made) and (not _is_in_loop(made) or _varies(made))
        x, user = made.operands[tied], made


_Two = tuple[tuple[Value, Value], Operation, Operation]
"""Two dispatches, after their first results, by which they are known: the hash of an operation
changes with its attributes."""


class _Dispatches:
    """The dispatches of a module, and which of them could turn out to be equal."""

    def __init__(self, module: Module) -> None:
        self.of: dict[str, list[Operation]] = {}
        """The dispatches of each kernel. One that chooses among kernels is of all of them."""
        self._known: dict[tuple[Value, Value], bool] = {}
        """For two dispatches, by their first results, if their operands may be equal."""
        for operation in nested(module.operation):
            if operation.name == _DISPATCH:
                entries: Any = operation.attributes["entry_points"]
                for entry in entries:
                    self.of.setdefault(str(entry), []).append(operation)

    def is_alone(self, dispatch: Operation) -> bool:
        """True if no other dispatch could turn out to be equal to one, which IREE would merge."""
        entries: Any = dispatch.attributes["entry_points"]
        others = (other for entry in entries for other in self.of[str(entry)] if other != dispatch)
        return not any(self._may_be_equal(dispatch, other) for other in others)

    def _may_be_equal(self, one: Operation, other: Operation) -> bool:
        """True if two dispatches of a kernel could turn out to have equal operands."""
        first = (one.results[0], other.results[0])
        pending = [(first, one, other)]
        while pending:
            pair, *both = pending[-1]
            pairs = zip(*(dispatch.operands for dispatch in both), strict=True)
            unknown = [] if pair in self._known else [self._compared(x, y) for x, y in pairs]
            asked = [x for x in unknown if not isinstance(x, bool)]
            known = [self._known.get(x[0]) for x in asked]
            if False in unknown or False in known:
                self._known[pair] = False
            elif None in known:
                pending += [x for x, answer in zip(asked, known, strict=True) if answer is None]
                continue
            self._known.setdefault(pair, True)
            pending.pop()
        return self._known[first]

    def _compared(self, x: Value, y: Value) -> bool | _Two:
        """Return True if two values may turn out to be equal, or the dispatches that tell.
        Arguments differ from each other, and from what kernels make. Others may be equal, such as
        what is loaded from globals, which IREE merges.
        """
        x, y = unshaped(x), unshaped(y)
        if x == y:
            return True
        made, other = mlir.definition(x), mlir.definition(y)
        if _is_dispatch(made) and _is_dispatch(other):
            entries = [str(o.attributes["entry_points"]) for o in (made, other)]
            if entries[0] != entries[1] or _number(made, x) != _number(other, y):
                return False
            return (made.results[0], other.results[0]), made, other
        return not all(_is_dispatch(o) or _is_import(o) for o in (made, other))


def _is_dispatch(operation: Operation | None) -> TypeGuard[Operation]:
    return operation is not None and operation.name == _DISPATCH


def _is_import(operation: Operation | None) -> bool:
    """True for what defines an argument: nothing, or its import."""
    return operation is None or operation.name == "hal.tensor.import"


def _is_in_loop(operation: Operation) -> bool:
    return not operation.block.owner.name.endswith((".func", ".initializer"))


def _varies(operation: Operation) -> bool:
    """True if what an operation computes depends on the arguments of its block."""
    pending, seen = [operation], {operation}
    while pending:
        for x in pending.pop().operands:
            made = mlir.definition(x)
            if made is None and x.owner == operation.block:
                return True
            if made is not None and made.block == operation.block and made not in seen:
                seen.add(made)
                pending.append(made)
    return False


def _write_over(function: Operation, chosen: Sequence[_ElementwisePair]) -> None:
    """Drop the arguments of results, which are stored to those of operands."""
    before = mlir.arguments(function)
    homes = {x.write.operands[1]: x.read.operands[0] for x in chosen}
    kept = [x for x in before if x not in homes]
    types = [_both(x) if x in homes.values() else x.type for x in kept]
    new, arguments = mlir.emptied(function, types)
    env: dict[Value, Value] = dict(zip(kept, arguments, strict=True))
    env |= {home: env[operand] for home, operand in homes.items()}
    reads = {x.write.operands[0]: x.read.results[0] for x in chosen}
    with InsertionPoint(mlir.body(new)):
        for operation in [x.operation for x in mlir.body(function).operations]:
            if operation.name == _GENERIC:
                with operation.location:
                    _copy_with_destinations(operation, reads, env)
            else:
                mlir.copy(operation, env)
    function.erase()


def _both(argument: Value) -> mlir.Type:
    return mlir.parse_type(str(argument.type).replace("<readonly:", "<readwrite:"))


def _copy_with_destinations(
    generic: Operation, reads: dict[Value, Value], env: dict[Value, Value]
) -> None:
    """Copy an elementwise operation. A result that is written over an operand has that as its
    destination, and no longer as an input.
    """
    count = len(generic.operands) - len(generic.results)
    inputs, destinations = list(generic.operands)[:count], list(generic.operands)[count:]
    homes = {inputs.index(reads[x]): i for i, x in enumerate(generic.results) if x in reads}
    kept = [i for i in range(count) if i not in homes]
    over = {
        i: reads.get(x, destination)
        for i, (x, destination) in enumerate(zip(generic.results, destinations, strict=True))
    }
    maps: Any = generic.attributes["indexing_maps"]
    attributes = {name: generic.attributes[name] for name in generic.attributes}
    places = [*kept, *range(count, count + len(destinations))]
    attributes["indexing_maps"] = mlir.array([maps[i] for i in places])
    attributes |= mlir.segment_sizes(len(kept), len(destinations))
    operands = [env[x] for x in (*(inputs[i] for i in kept), *over.values())]
    types = [x.type for x in generic.results]
    new = mlir.emit("linalg.generic", operands, attributes, types, regions=1)
    block = generic.regions[0].blocks[0]
    elements = list(block.arguments)
    inside = mlir.Block.create_at_start(new.regions[0], [elements[i].type for i in places])
    env |= dict(zip((elements[i] for i in places), inside.arguments, strict=True))
    env |= {elements[i]: env[elements[count + home]] for i, home in homes.items()}
    with InsertionPoint(inside):
        mlir.clone_all((x.operation for x in block.operations), env)
    env |= dict(zip(generic.results, new.results, strict=True))
