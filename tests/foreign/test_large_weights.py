"""Weights that programs take as arguments: what runs, is derived and mapped, and is not copied."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import irax
import irax_runtime
from irax_compiler import mlir
from irax_compiler.apart import weights
from irax_compiler.forms import portable
from irax_compiler.forms.reading import read_module
from irax_compiler.interchange import words
from irax_compiler.mlir import constants
from irax_runtime import archives
from irax_tools.cli import main

RNG = np.random.default_rng(0)
W, V = (RNG.uniform(-1, 1, shape).astype("f") for shape in ((12, 9), (9, 9)))
X = RNG.uniform(-1, 1, (2, 12)).astype("f")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have weights of a few bytes."""
    monkeypatch.setattr(weights, "LEAST", 64)
    monkeypatch.setattr(constants, "_LONG_TEXT", 64)


def hexadecimal(array: np.ndarray) -> str:
    return f'dense<"0x{array.tobytes().hex()}">'


TWICE = f"""
func.func @main(%x: tensor<2x12xf32> {{irax.name = "x"}}) -> tensor<2x9xf32> {{
  %w = stablehlo.constant {hexadecimal(W)} : tensor<12x9xf32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x12xf32>, tensor<12x9xf32>) -> tensor<2x9xf32>
  %1 = func.call @layer(%0) : (tensor<2x9xf32>) -> tensor<2x9xf32>
  %2:2 = stablehlo.while(%i = %zero, %y = %1) : tensor<i32>, tensor<2x9xf32> cond {{
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }} do {{
    %3 = stablehlo.add %i, %one : tensor<i32>
    %4 = func.call @layer(%y) : (tensor<2x9xf32>) -> tensor<2x9xf32>
    stablehlo.return %3, %4 : tensor<i32>, tensor<2x9xf32>
  }}
  return %2#1 : tensor<2x9xf32>
}}
func.func private @layer(%x: tensor<2x9xf32>) -> tensor<2x9xf32> {{
  %v = stablehlo.constant {hexadecimal(V)} : tensor<9x9xf32>
  %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
      : (tensor<2x9xf32>, tensor<9x9xf32>) -> tensor<2x9xf32>
  %1 = stablehlo.tanh %0 : tensor<2x9xf32>
  return %1 : tensor<2x9xf32>
}}
"""


def expected(x: np.ndarray) -> np.ndarray:
    y = x @ W
    for _ in range(4):
        y = np.tanh(y @ V)
    return y


def test_each_is_an_argument_once() -> None:
    module = read_module(TWICE)
    apart, found = weights.set_apart(module, "main")
    apart.operation.verify()
    assert [len(mlir.arguments(f)) for f in mlir.functions(apart).values()] == [3, 2]
    np.testing.assert_array_equal(found[0], W)
    np.testing.assert_array_equal(found[1], V)
    assert len(mlir.bytecode(apart)) < len(mlir.bytecode(module)) - W.nbytes - V.nbytes + 64
    assert weights.set_apart(apart, "main") == (apart, [])


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_results_and_derivatives(device: str) -> None:
    run = irax.ir.load(TWICE, device=device)
    np.testing.assert_allclose(run(X), expected(X), rtol=1e-4, atol=1e-5)
    if device == "reference":
        return
    lanes = irax.jit(irax.vmap(run))(np.stack([X, -X]))
    np.testing.assert_allclose(lanes[1], -expected(X), rtol=1e-4, atol=1e-5)
    slope = irax.jit(irax.grad(lambda x: run(x).sum()))(X)
    step = 1e-3 * RNG.normal(size=X.shape).astype("f")
    moved = (expected(X + step).sum(dtype="d") - expected(X - step).sum(dtype="d")) / 2
    np.testing.assert_allclose((slope * step).sum(), moved, rtol=1e-2)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.complex64, np.int8, np.float64])
def test_dtypes(dtype: type) -> None:
    array = (100 * RNG.normal(size=(8, 9))).astype(dtype)
    type_ = str(mlir.tensor_type(array.shape, array.dtype))
    module = mlir.parse_module(f"""func.func @main() -> {type_} {{
      %0 = stablehlo.constant {hexadecimal(array)} : {type_}
      return %0 : {type_} }}""")
    _, (found,) = weights.set_apart(module, "main")
    np.testing.assert_array_equal(found, array)
    np.testing.assert_array_equal(irax.ir.load(mlir.text_of(module.operation))(), array)


def test_what_is_no_weight() -> None:
    text = (
        """func.func @main() -> (tensor<99xf32>, tensor<40xi32>) {
      %0 = stablehlo.constant dense<1.0> : tensor<99xf32>
      %1 = stablehlo.constant dense<"""
        + str(list(range(40)))
        + """> : tensor<40xi32>
      return %0, %1 : tensor<99xf32>, tensor<40xi32> }"""
    )
    module = mlir.parse_module(text)
    assert weights.set_apart(module, "main") == (module, [])


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(TWICE)
    done = CliRunner().invoke(main, ["run", str(path), "--input", "3xf32=1"])
    assert "main: argument 0 is float32[3]; expected tensor<2x12xf32>" in done.output
    derived = str(tmp_path / "derived.mlirbc")
    assert (
        CliRunner().invoke(main, ["vmap", str(path), "--size", "2", "-o", derived]).exit_code == 0
    )
    assert Path(derived).read_bytes().startswith(b"ML")
    x = str(tmp_path / "x.npy")
    np.save(x, np.stack([X, -X]))
    done = CliRunner().invoke(main, ["run", derived, "--input", x, "--output", x])
    assert done.exit_code == 0, done.output
    np.testing.assert_allclose(np.load(x)[0], expected(X), rtol=1e-4, atol=1e-5)


VHLO = f"""
"vhlo.func_v1"() <{{arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>,
    sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"">,
    function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<!vhlo.f32_v1>)
      -> !vhlo.tensor_v1<12x9x!vhlo.f32_v1>>>}}> ({{
^bb0(%x: !vhlo.tensor_v1<!vhlo.f32_v1>):
  %0 = "vhlo.constant_v1"() <{{value = #vhlo.tensor_v1<{hexadecimal(W)} : tensor<12x9xf32>>}}>
      : () -> !vhlo.tensor_v1<12x9x!vhlo.f32_v1> loc("weights")
  "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<12x9x!vhlo.f32_v1>) -> ()
}}) : () -> ()
"""


def test_portable_artifacts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of VHLO do not become text on the way to StableHLO."""
    seen: list[str] = []
    parse = portable.mlir.parse_module
    monkeypatch.setattr(
        portable.mlir, "parse_module", lambda text: seen.append(text) or parse(text)
    )
    module = portable.to_stablehlo(parse(VHLO))
    assert "0x" not in seen[-1]
    (operation,) = (o for o in mlir.operations_in(module.operation) if o.name.endswith("constant"))
    assert str(operation.location) == 'loc("weights")'
    np.testing.assert_array_equal(mlir.dense_to_numpy(operation), W)


def test_words() -> None:
    told = words.told(TWICE)
    assert "0x" + "0" not in told
    assert len(told) < len(TWICE) - 2 * (W.nbytes + V.nbytes) + 9
    assert "dot_general" in words.told(mlir.bytecode(mlir.parse_module(TWICE)))
    assert words.told('x "0xAB') == 'x "0x'
    assert words.told(b"ML\xefR\x01") == b"ML\xefR\x01".decode(errors="replace")


def test_files_keep_weights_apart(tmp_path: Path) -> None:
    """A file has weights once, and programs, calls and derivatives of what is read take them."""
    module, file = tmp_path / "in.mlir", str(tmp_path / "f.irax")
    module.write_text(TWICE)
    assert CliRunner().invoke(main, ["compile", str(module), "-o", file]).exit_code == 0
    contents = archives.read_file(file)
    assert contents is not None
    assert [bytes(contents[f"weights/{i}"]) for i in range(2)] == [W.tobytes(), V.tobytes()]
    assert W.tobytes().hex()[:40] not in bytes(contents["module.mlir"]).decode().lower()
    wanted = np.asarray(irax.ir.load(module, device="reference")(X))
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(irax_runtime.load(file)(X)[0], wanted, **close)
    np.testing.assert_allclose(irax.export.load(file).call(X)[0], wanted, **close)
    np.testing.assert_allclose(irax.ir.load(file, device="reference")(X), wanted, **close)
    again = irax.export.deserialize(irax.export.load(file).serialize())
    np.testing.assert_allclose(again.call(X)[0], wanted, **close)
    told = CliRunner().invoke(main, ["info", file]).output
    assert "2 weights, 756 bytes" in told


@pytest.mark.parametrize("is_mapped", [True, False])
def test_damaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_mapped: bool) -> None:
    monkeypatch.setattr(archives, "_MAPPED", 1 if is_mapped else 1 << 30)
    saved = irax.export.of_module(irax.ir.load(TWICE).ir.module).to_bytes()
    assert saved.find(W.tobytes()) % 64 == 0
    place = saved.find(V.tobytes()) + 100
    file = tmp_path / "f.irax"
    damaged = saved[:place] + bytes([saved[place] ^ 1]) + saved[place + 1 :]
    cut = saved[: place - 50]
    for data, said in ((damaged, "weights/1.* checksum"), (cut, "damaged")):
        file.write_bytes(data)
        for load in (irax_runtime.load, irax.export.load):
            with pytest.raises(ValueError, match=said):
                load(str(file))
