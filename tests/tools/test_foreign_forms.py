"""Errors of the command for what is not StableHLO: what it is, and how StableHLO is had."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from irax_compiler import mlir
from irax_compiler.forms.reading import read_module
from irax_compiler.interchange import other_forms
from irax_tools.cli import main
from irax_tools.places import LONGEST, abridged

X = "tensor<4x4xf32>"
HLO = """HloModule jit_f, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

ENTRY %main.3 (Arg_0.1: f32[4]) -> f32[4] {
  %Arg_0.1 = f32[4]{0} parameter(0)
  ROOT %sine.2 = f32[4]{0} sine(f32[4]{0} %Arg_0.1)
}
"""
PROTO = b"\n\x05jit_f\x12\x04main\x1a\x10\n\x04main\x12\x08\n\x06\xff\xfe1234"
FORMS = {
    "HLO text": (HLO.encode(), "HLO text, XLA's own form; expected StableHLO: jax.jit"),
    "HLO proto": (PROTO, "an HLO proto, XLA's own form; expected StableHLO"),
    "HloProto": (b"\n\x31" + PROTO, "an HLO proto, XLA's own form; expected StableHLO"),
    "linalg": (
        f"""func.func @main(%x: {X}) -> {X} {{
          %0 = linalg.matmul ins(%x, %x : {X}, {X}) outs(%x : {X}) -> {X}
          return %0 : {X} }}""".encode(),
        "is not supported: the module was lowered beyond StableHLO: expected the module from",
    ),
    "tf": (
        f'func.func @main(%x: {X}) -> {X} {{ %0 = "tf.Sin"(%x) : ({X}) -> {X}\n'
        f"return %0 : {X} }}".encode(),
        'experimental_get_compiler_ir(x)(stage="stablehlo") in TensorFlow',
    ),
    "torch": (
        b"func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {\n"
        b"return %x : !torch.vtensor<[4],f32> }",
        "values of type !torch.vtensor<[4],f32> are not supported; expected StableHLO: export_and",
    ),
    "torch inside": (
        f'func.func @main(%x: {X}) -> {X} {{ %0 = "torch_c.from"(%x) : ({X}) -> !torch.vtensor\n'
        f'%1 = "torch_c.to"(%0) : (!torch.vtensor) -> {X}\n return %1 : {X} }}'.encode(),
        "torch",
    ),
    "memref": (
        b"func.func @main(%x: memref<4xf32>) { return }",
        "values of type memref<4xf32> are not supported; the module was lowered beyond StableHLO",
    ),
    "bounds": (
        b"func.func @main(%x: tensor<4xf32>, %c: tensor<i32>)"
        b" -> tensor<?xf32, #stablehlo.bounds<4>> {\n"
        b"%0 = stablehlo.set_dimension_size %x, %c, dim = 0 : (tensor<4xf32>, tensor<i32>)"
        b" -> tensor<?xf32, #stablehlo.bounds<4>>\n"
        b"return %0 : tensor<?xf32, #stablehlo.bounds<4>> }",
        "has a size that depends on elements, of which only the bound is known: not supported",
    ),
    "unranked": (
        b"func.func @main(%x: tensor<*xf32>) { return }",
        "values of type tensor<*xf32> are not supported; expected tensors of known rank",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_one_line_says_what_it_is(name: str, tmp_path) -> None:
    contents, told = FORMS[name]
    path = tmp_path / "module.mlir"
    path.write_bytes(contents)
    done = CliRunner().invoke(main, ["run", str(path), "--device", "reference"])
    assert done.exit_code == 1
    assert told in done.output
    assert done.output.startswith("irax: error: ")
    assert done.output.count("\n") == 1


def test_hlo_in_python() -> None:
    with pytest.raises(ValueError, match="HLO text, XLA's own form"):
        read_module(HLO)


@pytest.mark.parametrize("data", [b"", b"\n", b"module {}", b"\n\nfunc.func", b"\n\x05jit"])
def test_other_data_is_no_hlo(data: bytes) -> None:
    assert other_forms.hlo_problem(data) is None


def test_long_locations_are_one_line_of_the_user() -> None:
    installed = '"/venv/site-packages/flax/core.py":3:4'
    calls = " at ".join([installed] * 20)
    module = mlir.parse_module(
        f"func.func @main(%x: {X}) -> {X} {{\n"
        f'%0 = "foo.bar"(%x) : ({X}) -> {X} loc(callsite("sin(x)"({installed}) at '
        f'callsite("/home/me/model (1).py":12:3 at {installed})))\n return %0 : {X} }}'
    )
    (found, *_) = mlir.operations_in(module.operation)
    short = f"foo.bar at {found.location} is not supported"
    assert abridged(short) == short
    long = (
        f'foo.bar at loc("f"(callsite({calls} at "/home/me/model (1).py":12:3))) is not supported'
    )
    assert len(long) > LONGEST
    assert abridged(long) == (
        'foo.bar at loc("/home/me/model (1).py":12:3 ...; all of it: irax --debug) is not supported'
    )
    names = ", ".join(f'"a/framework/layer_{i}"' for i in range(99))
    assert abridged(f"sine at loc(fused[{names}]) fails") == (
        'sine at loc("a/framework/layer_0" ...; all of it: irax --debug) fails'
    )
    for cut in (long[:300], "loc(" + "x" * 999, 'loc("' + "(" * 999):
        assert len(abridged(cut)) < LONGEST + 80


def test_costs_name_the_users_own_place(tmp_path) -> None:
    path = tmp_path / "foo.mlir"
    text = (
        f'func.func @main(%0: {X}) -> {X} {{ %1 = "foo.bar"(%0) : ({X}) -> {X} return %1 : {X} }}'
    )
    path.write_text(text)
    done = CliRunner().invoke(main, ["cost", str(path)])
    assert f'foo.bar at loc("{path}":1:' in done.output


def test_types_of_elements_of_other_dialects_are_told_with_the_cure(tmp_path) -> None:
    path = tmp_path / "variable.mlir"
    x = "tensor<!tf_type.resource>"
    path.write_text(f"func.func @main(%0: {x}) -> {x} {{ return %0 : {x} }}")
    for command in ("run", "vjp", "cost"):
        done = CliRunner().invoke(main, [command, str(path)])
        assert f"element type !tf_type.resource of {x} is not supported; expected " in done.output


def test_arrays_without_a_rank(tmp_path) -> None:
    path = tmp_path / "unranked.mlir"
    x = "tensor<*xf32>"
    path.write_text(f"func.func @main(%0: {x}) -> {x} {{ return %0 : {x} }}")
    for command in ("run", "vjp", "cost", "digits"):
        done = CliRunner().invoke(main, [command, str(path)])
        assert f"values of type {x} are not supported; expected tensors of known" in done.output


def test_many_arguments_are_shown(tmp_path) -> None:
    types = [f"tensor<{n + 1}xf32>" for n in range(300)]
    arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
    path = tmp_path / "many.mlir"
    path.write_text(f"func.func @main({arguments}) -> {types[0]} {{ return %0 : {types[0]} }}")
    done = CliRunner().invoke(main, ["show", str(path)])
    assert done.exit_code == 0, done.output
    assert "!util.list<?>" in done.output


def test_a_mark_of_the_order_of_bytes_is_no_text(tmp_path) -> None:
    path = tmp_path / "marked.mlir"
    path.write_text(f"\ufefffunc.func @main(%0: {X}) -> {X} {{ return %0 : {X} }}", "utf-8")
    assert CliRunner().invoke(main, ["vjp", str(path)]).exit_code == 0


def test_bytecode_that_is_cut_short_in_its_header(tmp_path) -> None:
    path = tmp_path / "short.mlirbc"
    path.write_bytes(b"ML\xefR\x01\x02producer")
    done = CliRunner().invoke(main, ["run", str(path)])
    assert "not a valid MLIR module: bytecode that is cut short" in done.output


def test_of_many_types_the_first_that_differs_is_told(tmp_path) -> None:
    types = [f"tensor<{n + 1}xf32>" for n in range(200)]
    arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
    path = tmp_path / "many.mlir"
    path.write_text(f"func.func @main({arguments}) -> {types[0]} {{ return %0 : {types[0]} }}")
    command = ["run", str(path), "--device", "reference"]
    done = CliRunner().invoke(main, [*command, "--input", "1xf32=0", "--input", "2xf32=0"])
    assert "main takes 200 arguments, got 2; the first that differs is argument 2, expected " in (
        done.output
    )
    done = CliRunner().invoke(main, [*command, "--input", "1xf32=0", "--input", "3xf32=0"])
    assert "the first that differs is argument 1, expected tensor<2xf32>" in done.output
    assert len(done.output) < 200
