"""Files of `jax.export`, which make_exports.py wrote with JAX's results: called as in JAX."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner
from tests.foreign.pairs import Pair

import irax
import irax.numpy as jnp
from irax import export
from irax_compiler.interchange import jax_exports
from irax_tools.cli import main

FOLDER = Path(__file__).parent / "exports"


def file(name: str) -> bytes:
    return (FOLDER / f"{name}.jax").read_bytes()


def leaves(name: str, kind: str) -> list[Any]:
    with np.load(FOLDER / f"{name}.npz") as arrays:
        return [arrays[f"{kind}{i}"] for i in range(len(arrays)) if f"{kind}{i}" in arrays]


def close(name: str, found: Sequence[Any]) -> None:
    for x, y in zip(found, leaves(name, "result"), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def arguments_of_tree() -> tuple[Any, Any]:
    u, w, vector, number, unused, scale = leaves("tree", "argument")
    params, numbers = {"w": w, "u": u}, (vector, number)
    return (params, numbers, unused.astype(ml_dtypes.bfloat16)), {"scale": scale}


def test_containers_and_arguments_that_are_not_used() -> None:
    found = export.deserialize(file("tree"))
    assert (found.fun_name, found.platforms, found.nr_devices) == ("tree", ("cpu",), 1)
    args, kwargs = arguments_of_tree()
    assert found.in_tree == irax.tree.structure((args, kwargs))
    assert [str(a) for a in found.in_avals] == [
        *("int32[7]", "float32[3,2]", "float32[2]", "int32[]", "bfloat16[5]", "float32[]")
    ]
    results = found.call(*args, **kwargs)
    assert type(results["pair"]) is Pair
    close("tree", irax.tree.leaves(results))
    slopes = irax.grad(lambda p: found.call(p, *args[1:], **kwargs)["sum"], allow_int=True)(args[0])
    w, v = args[0]["w"], args[1][0]
    known = np.outer((1 - np.tanh(w @ v) ** 2) * kwargs["scale"], v)
    np.testing.assert_allclose(slopes["w"], known, rtol=1e-5)
    again = export.deserialize(found.serialize())
    close("tree", irax.tree.leaves(again.call(*args, **kwargs)))
    with pytest.raises(ValueError, match="tree: args has 1 items; expected 3"):
        found.call(args[0], **kwargs)


def test_the_processor_of_several_platforms(tmp_path: Path) -> None:
    found = export.deserialize(file("platforms"))
    assert found.platforms == ("tpu", "cpu", "cuda")
    assert "Eigh" not in found.mlir_module()
    assert "stablehlo.case" not in found.mlir_module()
    (x,) = leaves("platforms", "argument")
    close("platforms", [found.call(x)])
    np.save(tmp_path / "x.npy", x)
    path, result = str(FOLDER / "platforms.jax"), str(tmp_path / "y.npy")
    command = ["run", path, "--input", str(tmp_path / "x.npy"), "--output", result]
    done = CliRunner().invoke(main, [*command, "--device", "reference"])
    assert done.exit_code == 0, done.output
    close("platforms", [np.load(result)])
    assert "for tpu, cpu, cuda, by JAX " in CliRunner().invoke(main, ["info", path]).output


def test_random_keys() -> None:
    found = export.deserialize(file("keys"))
    words, x = leaves("keys", "argument")
    numbers, split = found.call(irax.random.wrap_key_data(words), x)
    assert split.dtype == irax.random.key(0).dtype
    close("keys", [numbers, irax.random.key_data(split)])


def test_sizes_have_the_names_that_they_had() -> None:
    found = export.deserialize(file("sized"))
    names = ["float32[3,2]", "float32[batch,3]", "float32[batch]"]
    assert [str(a) for a in found.in_avals] == names
    close("sized", [found.call(*leaves("sized", "argument"))])
    w, x, z = leaves("sized", "argument")
    for order in (found.vjp(), found.vjp().vjp()):
        assert order.has_vjp()
    slope = irax.grad(lambda w: found.call(w, x[:5], z[:5]).sum())(w)
    known = x[:5].T @ (1 - np.tanh(x[:5] @ w) ** 2) / 5
    np.testing.assert_allclose(slope, known, rtol=1e-5)
    traced = irax.jit(lambda w: jnp.sum(found.call(w, x, z)))
    np.testing.assert_allclose(traced(w), leaves("sized", "result")[0].sum(), rtol=1e-5)


def test_sizes_that_are_expressions() -> None:
    found = export.deserialize(file("summed"))
    assert str(found.in_avals[1]) == "float32[2*b,3]"
    w, x = leaves("summed", "argument")
    close("summed", [found.call(w, x)])
    np.testing.assert_allclose(found.call(w, x[:4]), np.cumsum(x[:4] @ w, 0), rtol=1e-5)
    with pytest.raises(ValueError, match=r"expected a size 2\*b"):
        found.call(w, x[:3])


def test_arguments_of_the_module_alone() -> None:
    """The command and `ir.load` take what the module does."""
    run = irax.ir.load(FOLDER / "tree.jax", device="reference")
    _, w, vector, number, _, scale = leaves("tree", "argument")
    close("tree", run(w, vector, number, scale))


def field(data: bytes, number: int) -> int:
    """The place of a field of the table of the function."""
    (table,) = struct.unpack_from("<I", data, 0)
    (back,) = struct.unpack_from("<i", data, table)
    return table + struct.unpack_from("<H", data, table - back + 4 + 2 * number)[0]


def test_versions() -> None:
    data = bytearray(file("tree"))
    place = field(bytes(data), 14)
    struct.pack_into("<H", data, place, 9)
    assert export.deserialize(data).fun_name == "tree"
    struct.pack_into("<H", data, place, 8)
    with pytest.raises(ValueError, match=r"version 8 of JAX's .*; expected 9 or 10"):
        export.deserialize(data)


@pytest.mark.parametrize("number", [2, 3, 9, 15, 19, 22])
def test_damaged_files(number: int) -> None:
    data = bytearray(file("tree"))
    place = field(bytes(data), number)
    for offset in (0, 4, len(data) - place - 4, len(data), 2**31):
        struct.pack_into("<I", data, place, offset)
        assert told(bytes(data)) in ("tree", "nor what jax.export serialises")


def told(data: bytes) -> str:
    """The name of the function in a file, or the end of the error that it is none."""
    try:
        return jax_exports.read(data).name
    except ValueError as error:
        return str(error).partition(", ")[2]
