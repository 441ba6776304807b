"""Branches of IREE's bytecode, which lose values."""

from __future__ import annotations

import iree.runtime as rt
import pytest

from irax_compiler.iree.compiler import resume
from irax_compiler.iree.references import with_own_references, with_own_registers

BUFFER, LIST = "!vm.ref<!hal.buffer>", "!vm.list<!vm.ref<!hal.buffer>>"

LAST_USE = """
vm.module public @module {
  vm.export @f
  vm.func private @f(%c: i32, %a: i32, %b: i32) -> i32 {
    vm.cond_br %c, ^bb1, ^bb2
  ^bb1:
    vm.br ^bb3(%b : i32)
  ^bb2:
    %x = vm.add.i32 %a, %a : i32
    vm.br ^bb3(%x : i32)
  ^bb3(%y: i32):
    %z = vm.sub.i32 %b, %y : i32
    vm.return %z : i32
  }
}
"""


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


def test_a_block_does_not_begin_with_the_last_use_of_what_it_is_given():
    """Its argument would get the register of %b, and the branch that passes %a write to it."""
    first = f"      vm.cond_br %c, ^bb3(%b, %x : {BUFFER}, {BUFFER}), ^bb4"
    before = f"""
    vm.cond_br %c, ^bb1(%b, %i : {BUFFER}, i32), ^bb2
    ^bb1(%x: {BUFFER}, %j: i32):
"""
    other = f"""
    ^bb2:
      vm.br ^bb1(%a, %i : {BUFFER}, i32)
"""
    kept = f"{before}      %apart0 = vm.const.i32.zero\n{first}{other}"
    assert with_own_registers(f"{before}{first}{other}") == kept
    assert with_own_registers(kept) == kept


@pytest.mark.parametrize(
    "block",
    [
        "      %k = vm.add.i32 %i, %j : i32\n      vm.return %i : i32",  # it is used again
        "      vm.return %j : i32",
        "      vm.return %k : i32",
    ],
)
def test_other_blocks_stay_as_they_are(block):
    text = f"    vm.br ^bb1(%i : i32)\n    ^bb1(%j: i32):\n{block}"
    assert with_own_registers(text) == text


def test_blocks_of_other_functions_have_other_arguments():
    one = (
        "  vm.func @f(%i: i32) {\n    vm.br ^bb1(%i : i32)\n  ^bb1(%j: i32):\n    vm.return\n  }\n"
    )
    other = "  vm.func @g(%i: i32) {\n  ^bb1(%j: i32):\n    vm.return %i : i32\n  }\n"
    assert with_own_registers(one + other) == one + other


@pytest.mark.parametrize(("condition", "difference"), [(1, 0), (0, 90)])
def test_a_program_whose_block_begins_with_a_last_use(condition, difference):
    """IREE alone finds 0 for both."""
    program = resume(with_own_registers(LAST_USE).encode(), "vm", ())
    instance = rt.VmInstance()
    module = rt.VmModule.copy_buffer(instance, program)
    arguments, results = rt.VmVariantList(3), rt.VmVariantList(1)
    for number in (condition, 5, 100):
        arguments.push_int(number)
    function = module.lookup_function("f")
    assert function is not None
    rt.VmContext(instance, modules=[module]).invoke(function, arguments, results)
    assert results.get_variant(0) == difference
