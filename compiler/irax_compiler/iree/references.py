"""A repair of IREE's bytecode, in which branches lose references.

A branch passes values to the arguments of a block. If it passes one reference to several arguments,
IREE 3.13 copies it to all but the last and moves it to the last. An argument in the register that
already holds the reference gets no copy, so it is null after the move. A later use then fails with
a buffer out of range or a null reference. The repair passes each reference once, and gives other
arguments new references to the same object.
"""

from __future__ import annotations

import itertools
import re

_BRANCH = re.compile(r"^( *)(vm\.(?:cond_)?br .*)$", re.MULTILINE)
_ARGUMENTS = re.compile(r"\(([^():]*) : ([^()]*)\)")
_TYPE = re.compile(r"[^\s,<]+(?:<[^,]*>)?")


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
