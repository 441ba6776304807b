"""The names that code reads outside of itself; code that does what is not understood is refused."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType


class NotDescribed(Exception):
    """There is no description of a function that holds all that its trace depends on."""


_UNDERSTOOD_TEXT = """
    BEFORE_WITH BINARY_OP BINARY_SLICE BINARY_SUBSCR BUILD_CONST_KEY_MAP BUILD_LIST BUILD_MAP
    BUILD_SLICE BUILD_STRING BUILD_TUPLE CALL CALL_FUNCTION_EX CALL_INTRINSIC_1 CALL_KW
    CHECK_EXC_MATCH COMPARE_OP CONTAINS_OP CONVERT_VALUE COPY COPY_FREE_VARS DELETE_FAST
    DELETE_SUBSCR DICT_MERGE DICT_UPDATE END_FOR FORMAT_SIMPLE FORMAT_VALUE FORMAT_WITH_SPEC
    FOR_ITER GET_ITER GET_LEN GET_YIELD_FROM_ITER IS_OP JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT
    JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP KW_NAMES LIST_APPEND LIST_EXTEND
    LIST_TO_TUPLE LOAD_ASSERTION_ERROR LOAD_ATTR LOAD_CLOSURE LOAD_CONST LOAD_DEREF LOAD_FAST
    LOAD_FAST_AND_CLEAR LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_METHOD LOAD_SUPER_ATTR MAKE_CELL
    MAKE_FUNCTION MAP_ADD MATCH_CLASS MATCH_KEYS MATCH_MAPPING MATCH_SEQUENCE NOP POP_EXCEPT
    POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE
    POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE
    POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_FORWARD_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE
    POP_JUMP_IF_NOT_NONE POP_JUMP_IF_TRUE POP_TOP PRECALL PUSH_EXC_INFO PUSH_NULL RAISE_VARARGS
    RERAISE RESUME RETURN_CONST RETURN_GENERATOR RETURN_VALUE SEND SET_FUNCTION_ATTRIBUTE
    STORE_ATTR STORE_DEREF STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST
    STORE_SLICE STORE_SUBSCR SWAP TO_BOOL UNARY_INVERT UNARY_NEGATIVE UNARY_NOT UNARY_POSITIVE
    UNPACK_EX UNPACK_SEQUENCE WITH_EXCEPT_START YIELD_VALUE CLEANUP_THROW END_SEND
"""
_UNDERSTOOD = frozenset(_UNDERSTOOD_TEXT.split())
"""Instructions that read and write values of the function alone, or attributes of values.

Not among them are those that write globals, import, or make classes or sets, whose order differs
between processes, and all that a later version of Python may add.
"""

_IS_KNOWN = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 14)
"""Other interpreters may mean something else by the same instructions."""

_NAMES = dis.opname
_CODES = dis.opmap
_UNDERSTOOD_CODES = frozenset(_CODES[name] for name in _UNDERSTOOD if name in _CODES)
_GLOBAL, _EXTENDED, _CACHE = _CODES["LOAD_GLOBAL"], _CODES["EXTENDED_ARG"], _CODES["CACHE"]
_ATTRIBUTE, _METHOD = _CODES["LOAD_ATTR"], _CODES.get("LOAD_METHOD", -1)
_STORE, _FAST = _CODES["STORE_ATTR"], _CODES["LOAD_FAST"]
_REBINDING: dict[int, Callable[[int], tuple[int, ...]]] = {
    _CODES["STORE_FAST"]: lambda argument: (argument,),
    _CODES.get("STORE_FAST_STORE_FAST", -1): lambda argument: (argument >> 4, argument & 15),
    _CODES.get("STORE_FAST_LOAD_FAST", -2): lambda argument: (argument >> 4,),
}
"""Instructions that give local variables new values, and the numbers of these."""
_CONSTANT, _CONTAINS, _IS = _CODES["LOAD_CONST"], _CODES["CONTAINS_OP"], _CODES["IS_OP"]
_FAST_TWICE = _CODES.get("LOAD_FAST_LOAD_FAST", -1)
_VARIABLE = _CODES["LOAD_DEREF"]
_PATTERN = _CODES["MATCH_CLASS"]
_SHIFT = 0 if sys.version_info < (3, 12) else 1
"""The bits of the argument of LOAD_ATTR below the number of the name."""

_MAKERS = frozenset({"__init__", "__post_init__"})
"""Methods that may set attributes: of the new object."""

_SPECIAL_TEXT = """
    __name__ __qualname__ __class__ __call__ __len__ __iter__ __next__ __getitem__ __contains__
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __matmul__ __rmatmul__ __truediv__
    __rtruediv__ __floordiv__ __mod__ __pow__ __rpow__ __neg__ __pos__ __abs__ __invert__ __and__
    __or__ __xor__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __float__ __int__ __new__
    __array__ __enter__ __exit__ __version__
"""
_SPECIAL = _MAKERS | frozenset(_SPECIAL_TEXT.split())
"""Special attributes that code may name. By others, such as `__globals__`, it could reach what it
does not name."""

_REFUSED_TEXT = """
    f_back f_builtins f_globals f_locals f_code gi_frame gi_code cr_frame ag_frame tb_frame tb_next
    tb_lineno tofile dump ctypes unsafe_buffer_pointer is_ready
"""
_REFUSED = frozenset(_REFUSED_TEXT.split())
"""Attributes by which code reaches what it does not name, writes files, or reads addresses."""

_SPECIAL_NAME = re.compile(r"__\w+?__")
_WORD = re.compile(r"\w+")

Chain = tuple[str, ...]
"""The name of a global or a variable, and those of the attributes that are read of it at once."""


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and those of the functions within it."""
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from codes(constant)


@dataclass
class Names:
    """The names that code reads, but not those that functions within it read."""

    globals: list[Chain] = field(default_factory=list[Chain])
    variables: list[Chain] = field(default_factory=list[Chain])
    """Variables of functions around it."""
    compared: set[Chain] = field(default_factory=set[Chain])
    """Globals and variables that are compared by `is`."""
    attributes: set[str] = field(default_factory=set[str])
    """The names of attributes that are read of other values."""
    has_patterns: bool = False
    """True if patterns may read further attributes."""


def names_read(code: CodeType) -> Names:
    """Return the names that code reads.

    Raises:
        NotDescribed: the code has effects beyond its own values, or they are not known.
    """
    if not _IS_KNOWN:
        raise NotDescribed("the instructions of this version of Python are not known")
    _check_names(code)
    names, raw = code.co_names, code.co_code
    inner = (name for name in code.co_cellvars if name not in code.co_varnames)
    places = (*code.co_varnames, *inner, *code.co_freevars)
    found: list[list[str]] = []
    variables: list[list[str]] = []
    attributes: set[str] = set()
    compared: set[Chain] = set()
    chain: list[str] | None = None
    high = last = last_argument = 0
    setting: str | None = None
    is_of_new, rebinds_first = True, False
    for i in range(0, len(raw), 2):
        operation = raw[i]
        if operation == _CACHE:
            continue
        argument = raw[i + 1] | high
        if operation == _EXTENDED:
            high = argument << 8
            continue
        high = 0
        is_set = last == _CONSTANT and type(code.co_consts[last_argument]) is frozenset
        if is_set and operation != _CONTAINS:
            raise NotDescribed(f"{code.co_qualname} {_MAKES_SET}")
        if operation == _GLOBAL:
            chain = [names[argument >> 1]]
            found.append(chain)
        elif operation == _VARIABLE:
            chain = [places[argument]]
            variables.append(chain)
        elif operation in (_ATTRIBUTE, _METHOD):
            name = names[argument >> _SHIFT]
            attributes.add(name)
            if chain is not None:
                chain.append(name)
        else:
            if operation == _IS and not _is_singleton(code, last, last_argument):
                if chain is not None:
                    compared.add(tuple(chain))
                elif not (
                    (last == _ATTRIBUTE and names[last_argument >> _SHIFT] == "__class__")
                    or _is_equality_of_dataclass(code, last, last_argument)
                ):
                    raise NotDescribed(f"{code.co_qualname} asks if values are the same object")
            chain = None
            if operation not in _UNDERSTOOD_CODES:
                raise NotDescribed(f"{code.co_qualname} {_does(_NAMES[operation])}")
            if operation == _STORE:
                setting = names[argument]
                is_of_new = is_of_new and _is_of_new_object(code, last, last_argument)
            elif operation in _REBINDING:
                rebinds_first = rebinds_first or 0 in _REBINDING[operation](argument)
        last, last_argument = operation, argument
    if setting is not None and (rebinds_first or not is_of_new):
        raise NotDescribed(f"{code.co_qualname} sets the attribute {setting!r}")
    has_patterns = _PATTERN in raw[::2]
    globals, around = list(map(tuple, found)), list(map(tuple, variables))
    return Names(globals, around, compared, attributes, has_patterns)


def _is_singleton(code: CodeType, last: int, argument: int) -> bool:
    """Return True after an instruction that reads a constant of which there is only one object."""
    if last != _CONSTANT:
        return False
    return any(code.co_consts[argument] is x for x in (None, True, False, ..., NotImplemented))


def _is_equality_of_dataclass(code: CodeType, last: int, argument: int) -> bool:
    """Return True where the `__eq__` that `dataclass` writes asks, from Python 3.13 on, if both are
    one object. Descriptions tell which objects are the same.
    """
    is_of_both = last == _FAST_TWICE and argument == 1
    return is_of_both and code.co_qualname == "__create_fn__.<locals>.__eq__"


def _is_of_new_object(code: CodeType, before: int, argument: int) -> bool:
    """Return True if an attribute is set of the object that the code initializes."""
    if code.co_name not in _MAKERS:
        return False
    if before == _FAST_TWICE:
        return argument & 15 == 0
    return before == _FAST and argument == 0


def _check_names(code: CodeType) -> None:
    if code.co_flags & 0x280:  # coroutines
        raise NotDescribed(f"{code.co_qualname} is asynchronous")
    for name in code.co_names:
        is_special = name.startswith("__") and name.endswith("__") and name not in _SPECIAL
        if (is_special or name in _REFUSED) and not _is_of_maker(name, code):
            raise NotDescribed(f"{code.co_qualname} uses the name {name!r}")
    for text in code.co_consts:
        if type(text) is str and names_special(text):
            raise NotDescribed(f"{code.co_qualname} uses a special name: {text!r}")


def names_special(text: str) -> bool:
    """Return True for a text that names, or is a part of, what code may not name: `getattr` would
    read it.
    """
    if "_" not in text:
        return False
    rest = _SPECIAL_NAME.sub(lambda found: "" if found[0] in _SPECIAL else found[0], text)
    return "__" in rest or not _REFUSED.isdisjoint(_WORD.findall(text))


def _is_of_maker(name: str, code: CodeType) -> bool:
    """Return True where a class whose objects are frozen sets their attributes."""
    own = {"__setattr__", "__delattr__"}
    return name in own and code.co_name in _MAKERS | own


_MAKES_SET = "makes a set, whose order differs between processes"


def _does(operation: str) -> str:
    if operation in ("BUILD_SET", "SET_ADD", "SET_UPDATE"):
        return _MAKES_SET
    if operation.startswith(("STORE_GLOBAL", "DELETE_GLOBAL")):
        return "writes a global"
    if operation.startswith("IMPORT"):
        return "imports a module"
    if operation == "LOAD_BUILD_CLASS":
        return "makes a class"
    return f"has the instruction {operation}"
