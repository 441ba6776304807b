"""Branches of IREE's bytecode, which must not give one reference twice."""

from __future__ import annotations

import pytest

from irax_compiler.iree.references import with_own_references

BUFFER, LIST = "!vm.ref<!hal.buffer>", "!vm.list<!vm.ref<!hal.buffer>>"


@pytest.mark.parametrize(
    "line",
    [
        f"vm.br ^bb1(%i, %i, %b : i32, i32, {BUFFER})",
        f"vm.cond_br %i, ^bb1(%b : {BUFFER}), ^bb2(%b : {BUFFER})",
        "vm.cond_br %i, ^bb1, ^bb2",
        f"vm.call @f(%b, %b) : ({BUFFER}, {BUFFER}) -> ()",
    ],
)
def test_what_stays_as_it_is(line):
    assert with_own_references(f"  ^bb0:\n    {line}\n") == f"  ^bb0:\n    {line}\n"


def test_references_that_are_given_twice():
    text = f"""
    vm.br ^bb1(%b, %i, %b, %i, %b : {BUFFER}, i32, {BUFFER}, i32, {BUFFER})
    vm.cond_br %c, ^bb1, ^bb2(%l, %m, %l : {LIST}, !vm.buffer, {LIST})
"""
    assert (
        with_own_references(text)
        == f"""
    %own0 = vm.assign.ref %b : {BUFFER} -> {BUFFER}
    %own1 = vm.assign.ref %b : {BUFFER} -> {BUFFER}
    vm.br ^bb1(%b, %i, %own0, %i, %own1 : {BUFFER}, i32, {BUFFER}, i32, {BUFFER})
    %own2 = vm.assign.ref %l : {LIST} -> {LIST}
    vm.cond_br %c, ^bb1, ^bb2(%l, %m, %own2 : {LIST}, !vm.buffer, {LIST})
"""
    )
