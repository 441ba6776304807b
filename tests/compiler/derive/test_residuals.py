"""The choice of residuals in `linearize`: as few bytes as the linear part can be computed from."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from tests.differential.random.random_functions import IRAX, PLAIN
from tests.differential.random.random_steps import RESIDUALS
from tests.differential.random.trials import COUNT, SEED, Trial, batches, differences, functions

import irax
from irax_compiler import api, mlir
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.derive import separation
from irax_compiler.passes.derive.linearity import Dependents
from irax_compiler.passes.derive.residuals import Residuals


def random_program(seed: int) -> str:
    """A function of cheap operations, products and sines of a few values, of two dtypes."""
    rng = np.random.default_rng(seed)
    values = [("%x", "f32"), ("%y", "f64")]
    lines = []
    for i in range(int(rng.integers(4, 9))):
        kind = rng.choice(["multiply", "sine", "negate", "convert"], p=[0.5, 0.2, 0.1, 0.2])
        x, dtype = values[rng.integers(len(values))]
        name, type_ = f"%v{i}", f"tensor<3x{dtype}>"
        if kind == "multiply":
            y = rng.choice([v for v, d in values if d == dtype])
            lines.append(f"{name} = stablehlo.multiply {x}, {y} : {type_}")
        elif kind == "convert":
            other = "f64" if dtype == "f32" else "f32"
            lines.append(f"{name} = stablehlo.convert {x} : ({type_}) -> tensor<3x{other}>")
            dtype = other
        else:
            lines.append(f"{name} = stablehlo.{kind} {x} : {type_}")
        values.append((name, dtype))
    name, dtype = values[-1]
    body = "\n".join([*lines, f"return {name} : tensor<3x{dtype}>"])
    return (
        f"func.func @main(%x: tensor<3xf32>, %y: tensor<3xf64>) -> tensor<3x{dtype}> {{\n{body}\n}}"
    )


def fewest_bytes(dependents: Dependents, needed: set[mlir.Value]) -> float:
    """The bytes of the smallest set of values that gives others, found by trying all sets."""
    cheap = [o for o in dependents.others if not traits_of(o).transcendental]
    values = {v for o in dependents.others for v in (*o.operands, *o.results)} | needed
    best = sum(mlir.bytes_of(v) for v in needed)
    for count in range(len(needed) + 1):
        for saved in itertools.combinations(values, count):
            cost = sum(mlir.bytes_of(v) for v in saved)
            if cost >= best:
                continue
            known = set(saved)
            for o in cheap:
                if all(v in known for v in o.operands):
                    known.update(o.results)
            if known >= needed:
                best = cost
    return best


class CheckedResiduals(Residuals):
    """Residuals of elementwise functions, compared with all other choices."""

    def __init__(self, dependents: Dependents, outputs: Iterable[mlir.Value]) -> None:
        super().__init__(dependents, outputs)
        read = {v for operation in dependents.operations for v in operation.operands}
        found = sum(mlir.bytes_of(v) for v in self.saved)
        assert found == fewest_bytes(dependents, read - dependents.values)


@batches(20, few=40)
def test_derivatives_are_those_of_forward_mode(numbers: Sequence[int]):
    """The linear part, given what is saved, does what the tangents of forward mode are."""
    for f in functions(RESIDUALS, 21, numbers):
        arrays = f.arguments()
        with irax.enable_x64():
            program = irax.jit(lambda *xs, f=f: f(IRAX, *xs)).lower(*arrays)
        module = api.parse(program.as_text())
        if len(mlir.arguments(mlir.functions(module)["lambda"])) > len(arrays):
            continue  # it has large constants, which are arguments
        derived, forward = api.linearize(module, "lambda"), api.jvp(module, "lambda")
        rng = np.random.default_rng(numbers[0])
        tangents = [x * rng.uniform(-1, 1, x.shape) for x in arrays]
        count = len(f(PLAIN, *arrays))
        found = api.evaluate(module, derived.name, arrays)
        both = api.evaluate(module, forward.name, [*arrays, *tangents])
        residuals, expected = found[count:], both[count:]
        linear = api.evaluate(module, derived.linear, [*residuals, *tangents])
        trial = Trial(str(f), list, (), expected, is_rounded=True)
        assert not differences(linear, trial), trial.name


@pytest.mark.parametrize("seed", range(COUNT or 40))
def test_no_other_values_take_fewer_bytes(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(separation, "Residuals", CheckedResiduals)
    module = api.parse(random_program(SEED * 100_000 + seed))
    derived = api.linearize(module)

    x, y = np.array([0.3, -0.7, 1.1], np.float32), np.array([0.9, 0.2, -1.3])
    _, *residuals = api.evaluate(module, derived.name, [x, y])
    tangents = [np.array([1, 2, -1], np.float32), np.array([0.5, -2, 1])]
    found = api.evaluate(module, derived.linear, [*residuals, *tangents])
    _, *expected = api.evaluate(module, api.jvp(module).name, [x, y, *tangents])
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_long_chains_follow_from_their_start():
    lines = [f"%{i + 1} = stablehlo.multiply %{i}, %{i} : tensor<2xf64>" for i in range(3000)]
    body = "\n".join(["%0 = stablehlo.negate %x : tensor<2xf64>", *lines])
    module = api.parse(
        f"func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {{\n{body}\n"
        "return %3000 : tensor<2xf64>\n}"
    )
    assert len(api.linearize(module).residuals) == 1
