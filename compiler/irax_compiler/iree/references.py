"""Repairs of IREE's bytecode, in which branches lose values.

A branch passes values to the arguments of a block, which are kept in registers. IREE 3.13 allocates
these wrongly in two cases:

- If a branch passes one reference to several arguments, the reference is copied to all but the last
  and moved to the last. An argument in the register that already holds the reference gets no copy,
  so it is null after the move. A later use then fails with a buffer out of range or a null
  reference. The repair passes each reference once, and gives other arguments new references to the
  same object.
- If a branch passes a value to a block that uses it last in its first operation, the argument gets
  the value's register: the one is taken to begin where the other ends. Another branch to the block
  writes to the register before the operation reads it. The repair puts an operation before it that
  does nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_BRANCH = re.compile(r"^( *)(vm\.(?:cond_)?br .*)$", re.MULTILINE)
_ARGUMENTS = re.compile(r"\(([^():]*) : ([^()]*)\)")
_TYPE = re.compile(r"[^\s,<]+(?:<[^,]*>)?")
_FUNCTION = re.compile(r"^(?= *vm\.func )", re.MULTILINE)
_GIVEN = re.compile(r"\^(\w+)\(([^():]*) : ")
"""Finds a block that a branch goes to, and the values that it passes."""
_BLOCK = re.compile(r"^( *\^(\w+)\(.*\):.*\n)( *)(.*)$((?:\n(?! *\^).*)*)", re.MULTILINE)
"""Finds a block with arguments: how it begins, its first operation, and the others."""
_VALUE = re.compile(r"%\w+")


def with_own_references(text: str) -> str:
    """A module of IREE's dialect `vm`, in which no branch gives one reference twice.

    >>> print(
    ...     with_own_references("  vm.br ^bb1(%a, %a : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>)")
    ... )
      %own0 = vm.assign.ref %a : !vm.ref<!hal.buffer> -> !vm.ref<!hal.buffer>
      vm.br ^bb1(%a, %own0 : !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>)
    """
    numbers = itertools.count()

    def branch(found: re.Match[str]) -> str:
        indent, line = found.groups()
        made: list[str] = []

        def arguments(found: re.Match[str]) -> str:
            names, types = found[1].split(", "), _TYPE.findall(found[2])
            for i, (name, type_) in enumerate(zip(names, types, strict=True)):
                if type_.startswith("!vm.") and name in names[:i]:
                    names[i] = f"%own{next(numbers)}"
                    made.append(f"{indent}{names[i]} = vm.assign.ref {name} : {type_} -> {type_}\n")
            return f"({', '.join(names)} : {found[2]})"

        line = _ARGUMENTS.sub(arguments, line)
        return f"{''.join(made)}{indent}{line}"

    return _BRANCH.sub(branch, text)


def with_own_registers(text: str) -> str:
    '''A module of IREE's dialect `vm`, in which no block begins with the last use in it of what a
    branch passes to the block.

    >>> print(
    ...     with_own_registers("""vm.br ^bb1(%a : i32)
    ... ^bb1(%b: i32):
    ...   vm.return %a : i32""")
    ... )
    vm.br ^bb1(%a : i32)
    ^bb1(%b: i32):
      %apart0 = vm.const.i32.zero
      vm.return %a : i32
    '''
    numbers = itertools.count()
    return "".join(_with_own_registers(x, numbers) for x in _FUNCTION.split(text))


def _with_own_registers(function: str, numbers: Iterator[int]) -> str:
    given: dict[str, set[str]] = {}
    for name, names in _GIVEN.findall(function):
        given.setdefault(name, set()).update(names.split(", "))

    def block(found: re.Match[str]) -> str:
        begin, name, indent, first, others = found.groups()
        last = {*_VALUE.findall(first)} - {*_VALUE.findall(others)}
        if last.isdisjoint(given.get(name, ())):
            return found[0]
        return f"{begin}{indent}%apart{next(numbers)} = vm.const.i32.zero\n{indent}{first}{others}"

    return _BLOCK.sub(block, function)
