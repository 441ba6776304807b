"""The MLIR Python bindings, with a few helper functions."""

from __future__ import annotations

import io
import itertools
import math
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from irax_compiler import dense_text
from irax_compiler.dtypes import DTYPES as DTYPES
from irax_compiler.dtypes import inexact as inexact
from irax_compiler.dtypes import is_narrow_integer as is_narrow_integer
from irax_compiler.dtypes import width as width

# Without op classes for these dialects, every access to an operation would try, and fail, to
# import them: 28 us a time. Empty modules settle the question; and those of "hal", which irax does
# not need, take 10 ms to import.
for _dialect in ("stablehlo", "chlo", "vhlo", "hal"):
    sys.modules.setdefault(
        f"iree.compiler.dialects.{_dialect}",
        types.ModuleType(f"iree.compiler.dialects.{_dialect}"),
    )

from iree.compiler import ir  # noqa: E402
from iree.compiler import passmanager as passmanager  # noqa: E402

Value = ir.Value
Type = ir.Type
VectorType = ir.VectorType
Attribute = ir.Attribute
Operation = ir.Operation
Block = ir.Block
Module = ir.Module
Location = ir.Location
InsertionPoint = ir.InsertionPoint
MLIRError = ir.MLIRError

CONTEXT = ir.Context()
# Other tools' attributes are none of irax's business; their operations are refused by name.
CONTEXT.allow_unregistered_dialects = True
# A thread of MLIR's that reports an error waits for Python's lock, which the thread that waits for
# it holds: two errors at a time would be a deadlock.
CONTEXT.enable_multithreading(False)
UNKNOWN = ir.Location.unknown(CONTEXT)

_ELEMENT_TYPES: dict[np.dtype, Type] = {
    dtype: ir.Type.parse(text, CONTEXT) for text, dtype in DTYPES.items()
}
_DTYPE_OF: dict[Type, np.dtype] = {element: dtype for dtype, element in _ELEMENT_TYPES.items()}


# ---- types ---------------------------------------------------------------------------------------


@cache
def element_type(dtype: np.dtype) -> Type:
    """The MLIR element type of a NumPy dtype. Raises TypeError for one that has none."""
    try:
        return _ELEMENT_TYPES[np.dtype(dtype)]
    except KeyError:
        known = ", ".join(str(d) for d in _ELEMENT_TYPES)
        raise TypeError(
            f"dtype {dtype} has no MLIR element type; expected one of {known}"
        ) from None


@lru_cache(maxsize=65536)
def tensor_type(shape: tuple[int, ...], dtype: np.dtype) -> Type:
    """`tensor<4x4xf32>` of shape (4, 4) and dtype float32."""
    return ir.RankedTensorType.get(shape, element_type(dtype), loc=UNKNOWN)


def shape_of(value: Any) -> tuple[int, ...]:
    """The static shape of a value (or of anything with a tensor `.type`)."""
    return tuple(value.type.shape)


def dtype_of(value: Any) -> np.dtype:
    """The NumPy dtype of a value (or of anything with a tensor `.type`)."""
    return dtype_of_type(value.type)


def dtype_of_type(type_: Any) -> np.dtype:
    """The NumPy dtype of a tensor type. Raises TypeError for element types irax does not know."""
    element = type_.element_type
    try:
        return _DTYPE_OF[element]
    except KeyError:
        raise TypeError(f"element type {element} of {type_} is not supported") from None


@lru_cache(maxsize=65536)
def type_problem(type_: Any) -> str | None:
    """Why there are no values of a type, as an error can say it; None where there are."""
    if not isinstance(type_, ir.RankedTensorType):
        return f"values of type {type_} are not supported; expected tensors of known rank"
    if not type_.has_static_shape:
        return f"{type_} is of dynamic shape: not supported; expected static shapes"
    if type_.encoding is not None:
        return f"{type_} has an encoding: not supported"
    if type_.element_type not in _DTYPE_OF:
        return f"element type {type_.element_type} of {type_} is not supported"
    if math.prod(type_.shape) >= 2**47:
        return f"{type_} is larger than any memory"
    return None


def is_inexact(value: Any) -> bool:
    """True where a tangent can live: floating-point and complex element types."""
    return inexact(dtype_of(value))


# ---- attributes ----------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def parse_attribute(text: str) -> Attribute:
    """An attribute from its text. Parsing costs tens of microseconds, so results are kept."""
    return ir.Attribute.parse(text, CONTEXT)


@lru_cache(maxsize=65536)
def attribute_text(attribute: Attribute) -> str:
    """The text of an attribute, kept: printing costs microseconds and passes ask again."""
    return str(attribute)


@lru_cache(maxsize=1024)
def parse_type(text: str) -> Type:
    """A type from its text."""
    return ir.Type.parse(text, CONTEXT)


def array(attributes: Sequence[Attribute]) -> Attribute:
    """An array attribute."""
    return ir.ArrayAttr.get(list(attributes), CONTEXT)


def string(text: str) -> Attribute:
    """A string attribute."""
    return ir.StringAttr.get(text, CONTEXT)


def dictionary(entries: Mapping[str, Attribute]) -> Attribute:
    """A dictionary attribute."""
    return ir.DictAttr.get(dict(entries), CONTEXT)


def reflection(entries: Mapping[str, str]) -> Attribute:
    """IREE's reflection attribute: what the runtime can ask of a compiled function."""
    return dictionary({k: string(v) for k, v in entries.items()})


def symbol(name: str) -> Attribute:
    """A reference to a function of the same module: `@name`."""
    return ir.FlatSymbolRefAttr.get(name, CONTEXT)


def type_attribute(type_: Type) -> Attribute:
    """An attribute that holds a type."""
    return ir.TypeAttr.get(type_, CONTEXT)


def function_type(inputs: Sequence[Type], results: Sequence[Type]) -> Type:
    """`(inputs) -> (results)`."""
    return ir.FunctionType.get(list(inputs), list(results), CONTEXT)


def dense(array: np.ndarray) -> Attribute:
    """A dense elements attribute with the contents, shape and dtype of `array`."""
    type_ = tensor_type(array.shape, array.dtype)
    if array.size > 1 and not any(array.strides):  # one element, repeated: it stays one
        if array.dtype == np.bool_:
            text = str(bool(array.flat[0])).lower()
            return ir.Attribute.parse(f"dense<{text}> : {type_}", CONTEXT)
        contents: Any = array[(slice(1),) * array.ndim]
        with UNKNOWN:
            return ir.DenseElementsAttr.get(contents, type=type_)
    contents = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype == np.bool_:
        # The bindings take booleans as packed bits and mistake one byte of them for a splat.
        if array.size == 0:
            return ir.Attribute.parse(f"dense<> : {type_}", CONTEXT)
        return ir.Attribute.parse(f'dense<"0x{array.tobytes().hex()}"> : {type_}', CONTEXT)
    with UNKNOWN:
        return ir.DenseElementsAttr.get(contents, type=type_)


def dense_of_number(number: Any) -> Attribute:
    """A dense elements attribute of one element, a number with its type such as `1.0 : f32`."""
    text, _, element = attribute_text(number).partition(" : ")
    return parse_attribute(f"dense<{text}> : tensor<{element}>")


def dense_to_numpy(operation: Operation, name: str = "value") -> np.ndarray:
    """The contents of a dense elements attribute of `operation` as a NumPy array."""
    type_ = operation.results[0].type
    dtype = dtype_of_type(type_)
    if dtype.kind in "biuf" and dtype.type.__module__ == "numpy":
        attribute: Any = operation.attributes[name]
        if isinstance(attribute, ir.DenseElementsAttr):
            if (element := _splat_element(attribute, dtype)) is not None:
                return np.broadcast_to(element, type_.shape)
            return np.array(attribute).reshape(type_.shape)
    # Complex, bfloat16, float8 and narrower contents have no buffer in the bindings: read the text.
    text = text_of(operation)
    match = re.search(r"dense<(.*)> : tensor", text, re.DOTALL)
    if match is not None:
        return dense_text.parse(match[1], tuple(type_.shape), dtype)
    resource = re.search(r'dense_resource<("?)(.*)\1> : tensor', text)
    if resource is None or width(dtype) < 8:
        raise TypeError(f"{operation.name}: cannot read its contents: {text[:120]}")
    return _resource(operation, resource[2]).view(dtype).reshape(type_.shape)


def _resource(operation: Operation, name: str) -> np.ndarray:
    """The bytes of a constant that are kept apart, under a name, at the end of the module."""
    holder = new_module()
    operation.clone(ip=ir.InsertionPoint(holder.body))
    text = text_of(holder.operation)
    match = re.search(rf'{re.escape(name)}"?: "0x([0-9A-Fa-f]*)"', text)
    if match is None:
        raise TypeError(f"{operation.name}: the module does not have its contents, {name!r}")
    return np.frombuffer(bytes.fromhex(match[1]), np.uint8)[4:].copy()  # without the alignment


def splat(value: Value) -> np.ndarray | None:
    """The element, as a scalar array, of a constant whose elements are all the same; None for any
    other value.
    """
    operation = definition(value)
    if operation is None or operation.name != "stablehlo.constant":
        return None
    dtype = dtype_of(value)
    if dtype.kind == "c":  # no attribute class in the bindings; a splat is printed as one element
        # Alone, since all values of the function that it is in would be numbered for it.
        text: Any = operation.clone(ip=False).get_asm(large_elements_limit=1)
        match = re.search(r"dense<(\([^()]*\))> : tensor", text)
        return None if match is None else dense_text.parse(match[1], (), dtype)
    attribute: Any = operation.attributes["value"]
    return _splat_element(attribute, dtype)


@lru_cache(maxsize=65536)
def _splat_element(attribute: Any, dtype: np.dtype) -> np.ndarray | None:
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    element: Any = attribute.get_splat_value()
    return np.asarray(element.value, dtype)


# ---- operations ----------------------------------------------------------------------------------

_create = ir.Operation.create


def emit(
    name: str,
    operands: Sequence[Value],
    attributes: dict[str, Attribute] | None = None,
    results: Sequence[Type] | None = None,
    regions: int = 0,
) -> Operation:
    """One operation at the current insertion point and location.

    Result types are inferred when `results` is None; not every operation can.
    """
    if results is None:
        return _create(
            name, operands=operands, attributes=attributes, regions=regions, infer_type=True
        )
    return _create(name, results=results, operands=operands, attributes=attributes, regions=regions)


def named(name: str, location: Location) -> Location:
    """`location`, marked with the transformation that made an operation there."""
    return ir.Location.name(name, location, CONTEXT)


def current_location() -> Location:
    """The location that operations are made at."""
    location = ir.Location.current
    return UNKNOWN if location is None else location


def file_location(file: str, line: int, column: int = 0) -> Location:
    """The location of a line of the user's."""
    return ir.Location.file(file, line, column, CONTEXT)


def text_of(operation: Operation, locations: bool = False) -> str:
    """The MLIR text of an operation (a module's is that of `module.operation`), all of it."""
    text: Any = operation.get_asm(enable_debug_info=locations)
    return text


def generic_text(module: Module) -> str:
    """The text of a module without any operation's own syntax, and without locations."""
    text: Any = module.operation.get_asm(print_generic_op_form=True)
    return text


def location_text(location: Location) -> str:
    """`file:line` of a location made by `file_location`."""
    match = re.search(r'"(.*)":(\d+)', str(location))
    return f"{match[1]}:{match[2]}" if match else "an unknown line"


# ---- modules and functions -----------------------------------------------------------------------


def new_module() -> Module:
    """An empty module."""
    return ir.Module.create(UNKNOWN)


def parse_module(text: str | bytes, name: str = "") -> Module:
    """A module from MLIR text or bytecode as it stands; verified. What others write comes in
    through `reading.read_module`. `name` is the file that locations in the text are in.

    Raises ValueError with the parser's message, its line and column included.
    """
    try:
        module = ir.Module.parse(text, CONTEXT)
        if name and isinstance(text, str):
            _name_locations(module, name)
        return module
    except MLIRError as error:
        message = error_text(error)
        if name:
            message = message.replace('loc("-":', f'loc("{name}":')
        raise ValueError(f"not a valid MLIR module: {message}") from None
    except RuntimeError as error:  # what is wrong cannot be told: it is not UTF-8
        raise ValueError(f"not a valid MLIR module: {error}") from None


def _name_locations(module: Module, name: str) -> None:
    """Gives the places in what was parsed, a file that is called "-", the name of a file."""

    def visit(operation: Operation) -> ir.WalkResult:
        location: Any = operation.location
        if isinstance(location, ir.FileLineColLoc) and location.filename == "-":
            line, column = location.start_line, location.start_col
            operation.location = file_location(name, line, column)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def clone_module(module: Module) -> Module:
    """A copy of a module."""
    copy = new_module()
    for operation in module.body.operations:
        operation.operation.clone(ip=ir.InsertionPoint(copy.body))
    return copy


def bytecode(module: Module) -> bytes:
    """A module as MLIR bytecode: shorter than text, and much faster to write and read."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def error_text(error: MLIRError) -> str:
    """Return the diagnostics of an MLIR error, one per line."""
    lines = [f"{d.location}: {d.message}" for d in error.error_diagnostics]
    return "\n".join(lines) or str(error)


def functions(module: Module) -> dict[str, Operation]:
    """The `func.func` operations of a module by name, in order."""
    found = {}
    for operation in module.body.operations:
        operation = operation.operation
        if operation.name == "func.func":
            found[function_name(operation)] = operation
    return found


class Functions(Mapping[str, Operation]):
    """The functions that a module has now, by name: to look few of them up."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def __getitem__(self, name: str) -> Operation:
        return ir.SymbolTable(self._module.operation)[name].operation

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in ir.SymbolTable(self._module.operation)

    def __iter__(self) -> Iterator[str]:
        return iter(functions(self._module))

    def __len__(self) -> int:
        return len(functions(self._module))


def function_name(function: Operation) -> str:
    """The symbol name of a function."""
    attribute: Any = function.attributes["sym_name"]
    return attribute.value


def arguments(function: Operation) -> list[Value]:
    """The arguments of a function."""
    return list(body(function).arguments)


def body(function: Operation) -> Block:
    """The one block of a function."""
    return function.regions[0].blocks[0]


def new_function(
    module: Module,
    name: str,
    inputs: Sequence[Type],
    location: Location = UNKNOWN,
    public: bool = False,
) -> Operation:
    """An empty function at the module's end; `finish_function` completes it."""
    attributes = {
        "sym_name": string(name),
        "function_type": type_attribute(function_type(inputs, [])),
    }
    if not public:
        attributes["sym_visibility"] = string("private")
    with ir.InsertionPoint(module.body), location:
        function = _create("func.func", attributes=attributes, regions=1)
        ir.Block.create_at_start(function.regions[0], list(inputs))
    return function


def declare_function(
    module: Module, name: str, inputs: Sequence[Type], results: Sequence[Type]
) -> Operation:
    """A private function without a body, which the program gets from elsewhere, at the current
    location.
    """
    attributes = {
        "sym_name": string(name),
        "function_type": type_attribute(function_type(inputs, results)),
        "sym_visibility": string("private"),
    }
    with ir.InsertionPoint(module.body):
        return _create("func.func", attributes=attributes, regions=1)


def result_types(function: Operation) -> list[Type]:
    """The types of a function's results."""
    attribute: Any = function.attributes["function_type"]
    return list(attribute.value.results)


def make_public(function: Operation) -> None:
    """Makes a function one that others may call from outside: no pass removes or narrows it."""
    if "sym_visibility" in function.attributes:
        del function.attributes["sym_visibility"]


def is_public(function: Operation) -> bool:
    """True for a function that may be called from outside its module."""
    if "sym_visibility" not in function.attributes:
        return True
    visibility: Any = function.attributes["sym_visibility"]
    return visibility.value == "public"


def finish_function(function: Operation, results: Sequence[Value]) -> None:
    """Ends a function with a return of `results` and gives it the type its block has."""
    block = body(function)
    with ir.InsertionPoint(block), function.location:
        _create("func.return", operands=results)
    set_function_type(function)


def set_function_type(function: Operation) -> None:
    """Gives a function the type that its block's arguments and its return have."""
    block = body(function)
    inputs = [argument.type for argument in block.arguments]
    results = [value.type for value in terminator(block).operands]
    function.attributes["function_type"] = type_attribute(function_type(inputs, results))


def terminator(block: Block) -> Operation:
    """The last operation of a block."""
    return block.operations[len(block.operations) - 1].operation


def unique_name(module: Module, name: str) -> str:
    """`name`, or `name_1`, `name_2`, ... if the module has it already."""
    taken, candidate = ir.SymbolTable(module.operation), name
    for count in itertools.count(1):
        if candidate not in taken:
            break
        candidate = f"{name}_{count}"
    return candidate


def copy_functions(source: Module, name: str, target: Module) -> dict[str, str]:
    """Copies a function, and all that it calls, into another module, as private functions.

    Names that the target has already are made unique. Returns the new name of each function.
    """
    there = functions(source)
    wanted = [name]
    for function in wanted:
        for reference in references(there[function]):
            wanted += [n for n in named_functions(reference) if n not in wanted]
    names: dict[str, str] = {}
    taken = set(functions(target))
    for function in wanted:
        candidate, count = function, 0
        while candidate in taken:
            count += 1
            candidate = f"{function}_{count}"
        taken.add(candidate)
        names[function] = candidate
    for function in wanted:
        copy = there[function].clone(ip=ir.InsertionPoint(target.body))
        copy.attributes["sym_name"] = string(names[function])
        copy.attributes["sym_visibility"] = string("private")
        for reference in references(copy):
            rename_functions(reference, names)
    return names


def function_beside(operation: Operation, name: str) -> Operation:
    """A function of the module that an operation is in."""
    module: Any = operation
    while module.name != "builtin.module":
        module = module.parent.operation
    return ir.SymbolTable(module)[name].operation


def calls(function: Operation) -> list[Operation]:
    """The `func.call` operations in a function and its regions, in order."""
    return _found(function, "func.call")


def references(function: Operation) -> list[Operation]:
    """The operations in a function and its regions that name other functions, in order."""
    return _found(function, "func.call", "stablehlo.composite", "stablehlo.custom_call")


def _found(function: Operation, *names: str) -> list[Operation]:
    found = []

    def visit(operation: Operation) -> ir.WalkResult:
        if operation.name in names:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return found


def callee(call: Operation) -> str:
    """The name of the function that a `func.call` calls."""
    attribute: Any = call.attributes["callee"]
    return attribute.value


def named_functions(reference: Operation) -> list[str]:
    """The names of the functions that one of `references` names."""
    return [a.value for a in _symbols(reference).values()]


def rename_functions(reference: Operation, names: Mapping[str, str]) -> None:
    """Makes one of `references` name other functions."""
    for (outer, inner), attribute in _symbols(reference).items():
        new = symbol(names[attribute.value])
        entries: Any = reference.attributes[outer]
        if isinstance(inner, int):
            new = array([new if i == inner else e for i, e in enumerate(entries)])
        elif inner:
            new = dictionary({e.name: new if e.name == inner else e.attr for e in entries})
        reference.attributes[outer] = new


def _symbols(reference: Operation) -> dict[tuple[str, str | int], Any]:
    """The attributes that are names of functions, and those in dictionaries and arrays, by their
    names and places.
    """
    found: dict[tuple[str, str | int], Any] = {}
    for name in reference.attributes:
        attribute: Any = reference.attributes[name]
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            found[name, ""] = attribute
        elif isinstance(attribute, ir.DictAttr):
            for entry in attribute:
                if isinstance(entry.attr, ir.FlatSymbolRefAttr):
                    found[name, entry.name] = entry.attr
        elif isinstance(attribute, ir.ArrayAttr):
            for i, item in enumerate(attribute):
                if isinstance(item, ir.FlatSymbolRefAttr):
                    found[name, i] = item
    return found


def is_argument(value: Value) -> bool:
    """True for an argument of a block, False for the result of an operation."""
    return isinstance(value, ir.BlockArgument)


def definition(value: Value) -> Operation | None:
    """The operation that a value is a result of; None for an argument of a block."""
    owner: Any = value.owner
    return None if is_argument(value) else owner.operation


def owner_name(argument: Value) -> str:
    """The name of the operation that a block argument's block is in: func.func, stablehlo.while."""
    block: Any = argument.owner
    return block.owner.operation.name


def clone(operation: Operation, env: Mapping[Value, Value]) -> list[Value]:
    """Copies an operation to the insertion point, with its operands as `env` has them; values
    that its regions capture from outside are replaced too.
    """
    copy = operation.clone()
    for i, operand in enumerate(operation.operands):
        copy.operands[i] = env[operand]
    for region in copy.regions:
        for block in region:
            _replace_captured(block, env)
    return list(copy.results)


def clone_all(operations: Iterable[Operation], env: dict[Value, Value]) -> None:
    """Copies operations to the insertion point, in order; `env` then has their results."""
    for operation in operations:
        env.update(zip(operation.results, clone(operation, env), strict=True))


def copy(operation: Operation, env: dict[Value, Value]) -> None:
    """A copy that uses what `env` has for the values the operation uses, or the same values; `env`
    then has its results.
    """
    used = (*operation.operands, *captured(operation))
    copies = clone(operation, {x: env.get(x, x) for x in used})
    env.update(zip(operation.results, copies, strict=True))


def _replace_captured(block: Block, env: Mapping[Value, Value]) -> None:
    for inner in block.operations:
        operation = inner.operation
        for i, operand in enumerate(operation.operands):
            if operand in env:
                operation.operands[i] = env[operand]
        for region in operation.regions:
            for nested in region:
                _replace_captured(nested, env)


def captured(operation: Operation) -> list[Value]:
    """The values from outside that are used in an operation's regions, in order, each once."""
    own: set[Value] = set()
    found: dict[Value, None] = {}

    def visit(regions: Any) -> None:
        for region in regions:
            for block in region:
                own.update(block.arguments)
                for view in block.operations:
                    inner = view.operation
                    found.update(dict.fromkeys(v for v in inner.operands if v not in own))
                    visit(inner.regions)
                    own.update(inner.results)

    visit(operation.regions)
    return list(found)


def open_module() -> Module:
    """The module that the current insertion point is in."""
    operation: Any = ir.InsertionPoint.current.block.owner
    while operation.operation.name != "builtin.module":
        operation = operation.operation.parent
    return operation.operation.opview


def num_uses(value: Value, most: int = 2) -> int:
    """Return the number of uses of a value, or `most` for more than that."""
    return sum(1 for _ in itertools.islice(value.uses, most))
