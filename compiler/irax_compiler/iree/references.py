"""A repair of IREE's bytecode, in which branches lose references.

A branch gives values to the arguments of a block. Where it gives one reference to several of them,
IREE 3.13 copies it to all but the last, to which it moves it. An argument that is kept where the
reference is already needs no copy, and is empty after the move. The next to use it is told of a
buffer that is out of range, or of a null reference. So a branch is given a reference once; further
times it is given others to the same.
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
