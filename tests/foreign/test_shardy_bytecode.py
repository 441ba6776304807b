"""Modules of shard_map in bytecode that JAX 0.12.0.1 wrote (make_sharded.py), and its results."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import irax
from irax_compiler.forms.reading import read_data
from irax_compiler.shardy import bytecode as sharding_bytecode

FOLDER = Path(__file__).parent / "sharded"
FILES = sorted(path.name for path in FOLDER.glob("*") if path.suffix != ".npz")


@pytest.mark.parametrize("name", FILES)
def test_values_and_slopes(name: str) -> None:
    path = FOLDER / name
    with np.load(path.with_suffix(".npz")) as arrays:
        x, expected = arrays["x"], arrays["result"]
    run = irax.ir.load(path, device="reference")
    np.testing.assert_allclose(run(x), expected, rtol=1e-5)
    weights = np.arange(expected.size, dtype="f").reshape(expected.shape)
    tangent = np.cos(np.arange(x.size, dtype="f")).reshape(x.shape)
    gradient = irax.grad(lambda x: (run(x) * weights).sum())(x)
    _, slope = irax.jvp(run, (x,), (tangent,))
    np.testing.assert_allclose((gradient * tangent).sum(), (slope * weights).sum(), rtol=1e-4)


@pytest.mark.parametrize("name", FILES)
def test_layouts_are_those_of_text(name: str) -> None:
    module = read_data((FOLDER / name).read_bytes(), name)
    found = str(module)
    assert "sdy" not in found
    assert 'mesh = "x=2,y=4"' in found


def test_damaged_bytecode_is_refused() -> None:
    data = (FOLDER / "exchanged.mlirbc").read_bytes()
    assert sharding_bytecode.readable(data) != data
    random = np.random.default_rng(0)
    for length in range(4, len(data), 29):
        with pytest.raises(ValueError, match="not a valid MLIR module"):
            read_data(data[:length])
    for _ in range(300):
        damaged = bytearray(data)
        for place in random.integers(4, len(data), 3):
            damaged[place] = random.integers(256)
        with suppress(ValueError):
            sharding_bytecode.readable(bytes(damaged))
