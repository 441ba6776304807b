"""Shardy's operations in the forms in which they are written: what they compute, or why not."""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax_compiler.forms.reading import read_module

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
    "parts of axes": module(
        f'%0 = sdy.reshard %x <@mesh, [{{"a":(2)2, "b"}}, {{"a":(1)2}}]> : {T}\n'
        f'%r = sdy.sharding_constraint %0 <@mesh, [{{}}, {{"a", ?}}]> : {T}',
        mesh='sdy.mesh @mesh = <["a"=4, "b"=2]>',
    ),
    "a mesh of its own": module(
        f'%r = sdy.sharding_constraint %x <mesh<["a"=2, "c"=2]>, [{{"c"}}, {{}}]> : {T}'
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


def summed(axes: str, specs: str, shard: str) -> str:
    """The sum of shards along axes of the mesh, in the place of each."""
    each = ", ".join(f"#stablehlo.axis_ref<{axis}>" for axis in axes.split("; "))
    return module(
        f"""
      %r = sdy.manual_computation(%x) in_shardings=[<@mesh, {specs}>]
          out_shardings=[<@mesh, {specs}>] manual_axes={{"a", "b"}} (%y: {shard}) {{
      %0 = "stablehlo.all_reduce"(%y) <{{
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{each}]>,
        use_global_device_ids}}> ({{
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %s = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : ({shard}) -> {shard}
      sdy.return %0 : {shard}
      }} : ({T}) -> {T}""",
        mesh='sdy.mesh @mesh = <["a"=4, "b"=2]>',
    )


def spread(sums: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(sums, shape).reshape(8, 4)


SUMS = {
    "an axis": (
        summed('name = "a"', '[{"a"}, {"b"}]', "tensor<2x2xf32>"),
        spread(X.reshape(4, 2, 4).sum(0), (4, 2, 4)),
    ),
    "axes": (
        summed('name = "a"; name = "b"', '[{"b", "a"}, {}]', "tensor<1x4xf32>"),
        spread(X.sum(0), (8, 4)),
    ),
    "a part of an axis": (
        summed(
            'name = "a", sub_axis_info = (2)2',
            '[{"a":(1)2}, {"a":(2)2, "b"}]',
            "tensor<4x1xf32>",
        ),
        spread(X.reshape(8, 2, 2).sum(1, keepdims=True), (8, 2, 2)),
    ),
    "the first part of an axis, and another axis": (
        summed(
            'name = "a", sub_axis_info = (1)2; name = "b"',
            '[{"a"}, {"b"}]',
            "tensor<2x2xf32>",
        ),
        spread(X.reshape(2, 2, 2, 2, 2).sum((0, 3), keepdims=True), (2, 2, 2, 2, 2)),
    ),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_along_axes_of_meshes(name: str) -> None:
    text, expected = SUMS[name]
    run = irax.ir.load(text, device="reference")
    np.testing.assert_allclose(run(X), expected, rtol=1e-6)


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
    "parts of the axis 'a', of 8 devices, overlap": module(
        f'%0 = sdy.sharding_constraint %x <@mesh, [{{"a":(1)3}}, {{}}]> : {T}\n'
        f'%r = sdy.sharding_constraint %0 <@mesh, [{{"a":(1)2}}, {{}}]> : {T}',
        mesh='sdy.mesh @mesh = <["a"=8]>',
    ),
    "a collective is over @other": SUMS["an axis"][0].replace("mesh = @mesh", "mesh = @other"),
    "a collective is along 'c'": SUMS["an axis"][0].replace('name = "a"', 'name = "c"'),
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
