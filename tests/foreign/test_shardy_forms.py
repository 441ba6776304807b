"""Shardy's operations in the forms in which they are written: what they compute, or why not."""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax_compiler.reading import read_module

X = np.random.default_rng(0).normal(size=(8, 4)).astype("f")
T = "tensor<8x4xf32>"
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>'


def module(body: str, mesh: str = MESH) -> str:
    return f"""
    {mesh}
    func.func @main(%x: {T}) -> {T} {{
      {body}
      return %r : {T}
    }}"""


SAME = {
    "a mesh by its attribute": module(
        f'%r = sdy.sharding_constraint %x <@mesh, [{{"a"}}, {{}}]> : {T}',
        mesh='sdy.mesh @mesh = #sdy.mesh<["a"=2]>',
    ),
    "a mesh with devices": module(
        f'%r = sdy.sharding_constraint %x <@mesh, [{{"a"}}, {{}}]> : {T}',
        mesh='sdy.mesh @mesh= <["a"=2], device_ids=[1, 0]>',
    ),
    "two lines and an attribute": module(
        f'%r = sdy.sharding_constraint %x\n <@mesh, [{{"a"}},\n {{?}}]> {{foo}} :  {T}'
    ),
    "reshard": module(f'%r = sdy.reshard %x <@mesh, [{{}}, {{"b"}}]> : {T} loc("here")'),
    "data_flow_edge": module(
        f'%r = sdy.data_flow_edge %x sharding=<@mesh, [{{"a"}}, {{?}}]> : {T}'
    ),
    "propagation_barrier": module(f"%r = sdy.propagation_barrier %x allowed_direction=NONE : {T}"),
    "sharding_group": module(
        f"sdy.sharding_group %x group_id=3 : {T}\n"
        f"%r = sdy.propagation_barrier %x allowed_direction=NONE : {T}"
    ),
    "all_gather": module(
        f'%0 = sdy.all_slice [{{"a"}}, {{}}] %x out_sharding=<@mesh, [{{"a"}}, {{}}]> : {T}\n'
        f'%r = sdy.all_gather [{{"a"}}, {{}}] %0 out_sharding=<@mesh, [{{}}, {{}}]> : {T}'
    ),
}
TWICE = {
    "constant": module(
        f"%c = sdy.constant dense<2.0> : {T}\n %r = stablehlo.multiply %x, %c : {T}"
    ),
    "named_computation": module(
        f"""
      %r = sdy.named_computation<"double">(%x) in_shardings=[<@mesh, [{{"a"}}, {{}}]>]
          (%y: {T}) {{
        %0 = stablehlo.add %y, %y : {T}
        sdy.return %0 : {T}
      }} : ({T}) -> {T}"""
    ),
    "manual_computation": module(
        f"""
      %r = sdy.manual_computation(%x)
          in_shardings=[<@mesh,
            [{{"a", ?}}, {{?}}]>]
          out_shardings=[<@mesh, [{{"a", ?}}, {{?}}]>] manual_axes={{"a"}}
          (%y: tensor<4x4xf32>) {{
        %0 = sdy.named_computation<"add">(%y) (%z: tensor<4x4xf32>) {{
          %1 = stablehlo.add %z, %z : tensor<4x4xf32>
          sdy.return %1 : tensor<4x4xf32>
        }} : (tensor<4x4xf32>) -> tensor<4x4xf32>
        sdy.return %0 : tensor<4x4xf32>
      }} : ({T}) -> {T}"""
    ),
    "a call in manual_computation": module(
        f"""
      %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"a"}}, {{}}]>]
          out_shardings=[<@mesh, [{{"a"}}, {{}}]>] manual_axes={{"a"}} (%y: tensor<4x4xf32>) {{
        %0 = func.call @double(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
        sdy.return %0 : tensor<4x4xf32>
      }} : ({T}) -> {T}"""
    )
    + """
    func.func private @double(%y: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = stablehlo.add %y, %y : tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }""",
}


@pytest.mark.parametrize("name", [*SAME, *TWICE])
def test_values(name: str) -> None:
    run = irax.ir.load((SAME | TWICE)[name], device="reference")
    factor = 2 if name in TWICE else 1
    np.testing.assert_array_equal(run(X), factor * X)
    slope = irax.grad(lambda x: run(x).sum())(X)
    np.testing.assert_array_equal(slope, np.full_like(X, factor))


REFUSED = {
    "sdy.all_reduce is not supported; expected": module(
        f'%r = sdy.all_reduce {{"a"}} %x out_sharding=<@mesh, [{{}}, {{}}]> : {T}'
    ),
    "by a part of the axis 'a'": module(
        f'%r = sdy.sharding_constraint %x <@mesh, [{{"a":(1)2}}, {{}}]> : {T}'
    ),
    "a mesh that the module lacks": module(
        f'%r = sdy.sharding_constraint %x <@other, [{{"a"}}, {{}}]> : {T}'
    ),
    "without an end of its region": module(
        f'%r = sdy.named_computation<"f">(%x) (%y: {T}) {{\n sdy.return %y : {T}'
    ),
}


@pytest.mark.parametrize("told", REFUSED)
def test_what_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_module(REFUSED[told])
