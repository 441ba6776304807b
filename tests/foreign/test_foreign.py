"""Real programs as JAX lowers them, differentiated and batched by irax, against JAX's own results.

The modules and numbers are made by make.py; JAX is not needed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irax_compiler import mlir
from irax_tools import derive
from irax_tools.programs import REFERENCE, program
from irax_tools.sources import Source, read_module

FOLDER = Path(__file__).parent / "exported"
NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir"))
PORTABLE = sorted({path.stem for path in FOLDER.glob("*.mlirbc")} & {*NAMES})
LANES = 3
COMPILED = ("attention", "mlp", "physics_loop", "sort")
"""The programs that are run on IREE too: breadth is the evaluator's."""


def foreign(name: str) -> tuple[Source, dict[str, Any]]:
    with np.load(FOLDER / f"{name}.npz") as arrays:
        return Source(read_module(str(FOLDER / f"{name}.mlir"))[0], "main"), dict(arrays)


def of(arrays: dict[str, Any], kind: str) -> list[Any]:
    return [arrays[f"{kind}{i}"] for i in range(len(arrays)) if f"{kind}{i}" in arrays]


def close(found: Any, expected: Any, name: str) -> None:
    tolerance = 2e-2 if name == "lower_precision" else 2e-4
    for x, y in zip(found, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        scale = max(1.0, float(np.abs(y).max(initial=0)))
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * scale)


def devices(name: str) -> tuple[str, ...]:
    return (REFERENCE, "cpu") if name in COMPILED else (REFERENCE,)


def test_there_are_many():
    assert len(NAMES) >= 25


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_results(name):
    source, arrays = foreign(name)
    for device in devices(name):
        close(program(source, device)(of(arrays, "argument")), of(arrays, "result"), name)


@pytest.mark.parametrize("name", PORTABLE)
def test_portable_artifacts(name):
    _, arrays = foreign(name)
    source = Source(read_module(str(FOLDER / f"{name}.mlirbc"))[0], "main")
    close(program(source, REFERENCE)(of(arrays, "argument")), of(arrays, "result"), name)
    found = program(derive.vjp(source, None), REFERENCE)(
        [*of(arrays, "argument"), *of(arrays, "cotangent")]
    )
    close(found, [*of(arrays, "result"), *of(arrays, "gradient")], name)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_jvp(name):
    source, arrays = foreign(name)
    inputs = [*of(arrays, "argument"), *of(arrays, "tangent")]
    expected = [*of(arrays, "result"), *of(arrays, "slope")]
    for device in devices(name):
        close(program(derive.jvp(source, None), device)(inputs), expected, name)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_vjp(name):
    source, arrays = foreign(name)
    inputs = [*of(arrays, "argument"), *of(arrays, "cotangent")]
    expected = [*of(arrays, "result"), *of(arrays, "gradient")]
    for device in devices(name):
        close(program(derive.vjp(source, None), device)(inputs), expected, name)


@pytest.mark.parametrize("name", NAMES)
def test_grad_of_scalars(name):
    source, arrays = foreign(name)
    types: list[Any] = mlir.result_types(mlir.functions(source.module)["main"])
    if len(types) != 1 or types[0].shape:
        with pytest.raises(ValueError, match="irax vjp"):
            derive.grad(source, None)
        return
    (cotangent,) = of(arrays, "cotangent")
    found = program(derive.grad(source, None), REFERENCE)(of(arrays, "argument"))
    close([cotangent * x for x in found], of(arrays, "gradient"), name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_vmap(name):
    source, arrays = foreign(name)
    batched = derive.vmap(source, LANES)
    for device in devices(name):
        found = program(batched, device)(of(arrays, "lane_argument"))
        close(found, of(arrays, "lane_result"), name)
