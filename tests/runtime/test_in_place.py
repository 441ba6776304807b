"""IREE updates in place where it shouldn't: lowered programs against NumPy, and whether their
arguments are still what they were.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

X = "tensor<8x16xf32>"
UPDATE = f"({X}, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> {X}"  # of two rows and three columns


def update(operand: str, values: str = "%u", index: str = "%i") -> str:
    return f"stablehlo.dynamic_update_slice {operand}, {values}, {index}, {index} : {UPDATE}"


def scatter(operand: str, updates: str = "%v") -> str:
    return f"""
    "stablehlo.scatter"({operand}, %rows, {updates}) <{{scatter_dimension_numbers =
        #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
      ^bb0(%old: tensor<f32>, %new: tensor<f32>):
        stablehlo.return %new : tensor<f32>
    }}) : ({X}, tensor<2x1xi32>, tensor<2x16xf32>) -> {X}"""


SORT = """
    "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
    }) : (tensor<8x16xf32>) -> tensor<8x16xf32>"""


def loop(body: str, init: str = "%y") -> str:
    """Three iterations of a body that makes %next of %c, the carry, and %k, the iteration."""
    return f"""
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %w:2 = stablehlo.while(%k = %zero, %c = {init}) : tensor<i32>, {X}
    cond {{
      %p = stablehlo.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      {body}
      %j = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, {X}
    }}"""


TOP = "stablehlo.slice %x [0:2, 0:16] : (tensor<8x16xf32>) -> tensor<2x16xf32>"
CORNER = "stablehlo.slice %x [0:2, 0:3] : (tensor<8x16xf32>) -> tensor<2x3xf32>"

RNG = np.random.default_rng(0)
x, y = RNG.normal(size=(2, 8, 16)).astype(np.float32)
u = RNG.normal(size=(2, 3)).astype(np.float32)
v = RNG.normal(size=(2, 16)).astype(np.float32)
rows = np.array([[1], [5]], np.int32)


def updated(array: np.ndarray, values: np.ndarray = u, i: int = 1) -> np.ndarray:
    array = array.copy()
    array[i : i + 2, i : i + 3] = values
    return array


def scattered(updates: np.ndarray = v) -> np.ndarray:
    array = x.copy()
    array[rows[:, 0]] = updates
    return array


class Program(NamedTuple):
    body: str
    results: str
    expected: Callable[[], tuple[np.ndarray, ...]]


PROGRAMS = {
    "update": Program(f"%0 = {update('%x')}", "%0", lambda: (updated(x),)),
    "update, and the argument": Program(f"%0 = {update('%x')}", "%0, %x", lambda: (updated(x), x)),
    "scatter, and the argument": Program(
        f"%0 = {scatter('%x')}", "%0, %x", lambda: (scattered(), x)
    ),
    "sort, and the argument": Program(f"%0 = {SORT}", "%0, %x", lambda: (np.sort(x, axis=1), x)),
    "update of what does nothing": Program(
        f"%a = stablehlo.negate %x : {X}\n%b = stablehlo.negate %a : {X}\n%0 = {update('%b')}",
        "%0",
        lambda: (updated(x),),
    ),
    "update of a part of a complex number": Program(
        f"""%a = stablehlo.complex %x, %y : tensor<8x16xcomplex<f32>>
        %b = stablehlo.real %a : (tensor<8x16xcomplex<f32>>) -> {X}
        %0 = {update("%b")}""",
        "%0",
        lambda: (updated(x),),
    ),
    "update that only feeds others": Program(
        f"%a = {update('%x')}\n%0 = stablehlo.abs %a : {X}", "%0", lambda: (np.abs(updated(x)),)
    ),
    "loop that carries an update": Program(
        loop(f"%next = {update('%c', index='%k')}", "%x"),
        "%w#1, %x",
        lambda: (updated(updated(updated(x, i=0), i=1), i=2), x),
    ),
    "loop that updates what it took from outside": Program(
        loop(f"%a = {update('%x', index='%k')}\n%next = stablehlo.add %c, %a : {X}"),
        "%w#1",
        lambda: (y + updated(x, i=0) + updated(x, i=1) + updated(x, i=2),),
    ),
    "loop that scatters into what it took from outside": Program(
        loop(
            f"%a = {scatter('%x')}\n%b = stablehlo.add %a, %x : {X}"
            f"\n%next = stablehlo.add %c, %b : {X}"
        ),
        "%w#1",
        lambda: (y + 3 * (scattered() + x),),
    ),
    "update by a slice of the same": Program(
        f"%a = {CORNER}\n%0 = {update('%x', '%a')}", "%0", lambda: (updated(x, x[:2, :3]),)
    ),
    "scatter of a slice of the same": Program(
        f"%a = {TOP}\n%0 = {scatter('%x', '%a')}", "%0", lambda: (scattered(x[:2]),)
    ),
}


def source(name: str, program: Program, internal: bool) -> str:
    """A function whose %x is an argument, or computed from one of another size."""
    given, before = "%x: " + X, ""
    if internal:
        given = "%given: tensor<8x16x2xf32>"
        before = f"""%nothing = stablehlo.constant dense<0.0> : tensor<f32>
            %x = stablehlo.reduce(%given init: %nothing) applies stablehlo.add
              across dimensions = [2] : (tensor<8x16x2xf32>, tensor<f32>) -> {X}"""
    types = ", ".join([X] * len(program.results.split(",")))
    return f"""
    func.func public @{name}({given}, %y: {X}, %i: tensor<i32>, %u: tensor<2x3xf32>,
        %rows: tensor<2x1xi32>, %v: tensor<2x16xf32>) -> ({types}) {{
      {before}
      {program.body}
      return {program.results} : {types}
    }}"""


def name_of(program: str, internal: bool) -> str:
    return re.sub(r"\W+", "_", program) + "_internal" * internal


@functools.cache
def artefact() -> bytes:
    """All programs: to compile each by itself would take five times as long."""
    texts = [
        source(name_of(name, internal), program, internal)
        for name, program in PROGRAMS.items()
        for internal in (False, True)
    ]
    module = mlir.parse_module("\n".join(texts))
    run_pipeline(module, text_of(CPU.passes))
    return CPU.compile_text(mlir.bytecode(module))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "internal"),
    [(name, internal) for name in PROGRAMS for internal in (False, True)],
)
def test_programs_update_only_what_is_theirs(name, internal):
    program = PROGRAMS[name]
    first = np.stack([x, np.zeros_like(x)], axis=-1) if internal else x
    arguments = [first, y, np.array(1, np.int32), u, rows, v]
    buffers = [cpu().put(a) for a in arguments]
    results = cpu().load(artefact(), name_of(name, internal))(buffers)
    for result, value in zip(results, program.expected(), strict=True):
        np.testing.assert_allclose(result.numpy(), value, rtol=1e-5, atol=1e-6)
    for buffer, argument in zip(buffers, arguments, strict=True):
        np.testing.assert_array_equal(buffer.numpy(), argument)
