"""Random functions of arrays of unknown size: the trace of symbolic sizes against those of known
ones, and the program for all sizes against the evaluator.

Sizes are 0, 1 and others. Larger ones come first, so that memory that is not written is not zero.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.differential.random.test_random_programs import EXAMPLES
from tests.differential.sizes.sized_functions import function_of, random_steps, real

import irax
import irax.numpy as jnp
from irax import export
from irax.execution import backend
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.sizes.refine import refined
from irax_compiler.sizes import InconclusiveDimensionOperation

DTYPES = ["float64", "float32", "int32", "int8", "bool", "float64", "complex64", "uint8"]
SHAPES = [
    ("n - 1, m - 1", "n - 1"),
    ("n - 1, 3", "n - 1"),
    ("n, m", "m"),
    ("n", "m"),
    ("n, m, 2", "n"),
    ("n - 1, m", "m, n - 1"),
]
SIZES = [(8, 3), (4, 9), (17, 34), (1, 1), (2, 4), (3, 1), (1, 4)]
TRANSFORMS = ("", "", "grad", "vmap", "vmap grad")


def specs_of(rng: random.Random, transforms: str) -> list[irax.ShapeDtypeStruct]:
    scope = export.SymbolicScope()
    dtypes = [rng.choice(DTYPES[:2] if "grad" in transforms else DTYPES), rng.choice(DTYPES)]
    return [
        irax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), dtype)
        for shape, dtype in zip(rng.choice(SHAPES), dtypes, strict=True)
    ]


def gradient(function: Callable) -> Callable:
    """The gradient of the sum of all results that are numbers."""

    def total(x: Any, *rest: Any) -> Any:
        results = map(real, function(x, *rest))
        return sum(
            (jnp.where(jnp.isfinite(y), y, 0).astype("float64").sum() / 8 for y in results),
            jnp.zeros((), "float64"),
        )

    return lambda *args: [irax.grad(total)(*args)]


def arguments(rng: random.Random, specs: Sequence[Any], values: dict[str, int]) -> list[np.ndarray]:
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    made = []
    for spec in specs:
        sizes = [n if isinstance(n, int) else int(eval(str(n), {}, values)) for n in spec.shape]
        kind = np.dtype(spec.dtype).kind
        x = numbers.uniform(-2, 2, sizes) if kind in "fc" else numbers.integers(0, 6, sizes)
        made.append((x + 1j * x[..., ::-1] if kind == "c" else x).astype(spec.dtype))
    return made


def assert_alike(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for x, y in zip(found, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        if y.dtype.kind in "fc":
            finite = np.abs(y[np.isfinite(y)])
            scale = finite.max(initial=1)
            if scale > 1e6:  # sums in another order overflow, or differ by much
                continue
            np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-3 * scale)
        else:
            np.testing.assert_array_equal(x, y)


def evaluated(module: Any, name: str, given: list[np.ndarray]) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return Evaluator(module)(name, given)


def exported(rng: random.Random, most: int) -> tuple[Callable, list[Any], Any] | None:
    """A random function, the types of its arguments, and its export; None if there is none."""
    transforms = rng.choice(TRANSFORMS)
    specs = specs_of(rng, transforms)
    function = function_of(random_steps(rng, specs, most))
    if "grad" in transforms:
        function = gradient(function)
    if "vmap" in transforms:
        function = irax.vmap(function)
        lanes = rng.choice([2, export.symbolic_shape("k", scope=specs[0].shape[0].scope)[0]])
        specs = [irax.ShapeDtypeStruct((lanes, *s.shape), s.dtype) for s in specs]
    try:
        return function, specs, export.export(irax.jit(function))(*specs)
    except (InconclusiveDimensionOperation, UnsupportedOp):
        return None  # a loop or a scatter that has no reverse mode


def cases(rng: random.Random, specs: Sequence[Any]) -> list[tuple[dict[str, int], list]]:
    made = [
        (values, arguments(rng, specs, values))
        for values in ({"n": n, "m": m, "k": 3} for n, m in SIZES)
    ]
    return [(values, given) for values, given in made if sum(x.size for x in given) < 3000]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(EXAMPLES or 12))
def test_traced_for_all_sizes(seed: int):
    with irax.enable_x64(True):
        rng = random.Random(seed)
        made = exported(rng, most=4)
        if made is None:
            return
        function, specs, of_all = made
        for values, given in cases(rng, specs):
            own = [irax.ShapeDtypeStruct(x.shape, x.dtype) for x in given]
            try:
                known = export.export(irax.jit(function))(*own)
            except IndexError:  # there is no element to read
                assert not all(x.size for x in given)
                continue
            found = refined(of_all._module, of_all.fun_name, values)
            expected = evaluated(known._module, known.fun_name, given)
            assert_alike(evaluated(found, of_all.fun_name, given), expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(EXAMPLES or 40))
def test_compiled_for_all_sizes(seed: int):
    with irax.enable_x64(True):
        rng = random.Random(1000 + seed)
        made = exported(rng, most=3)
        if made is None:
            return
        _, specs, of_all = made
        module, name = of_all._module, of_all.fun_name
        device = irax.devices("cpu")[0]
        program, _ = backend.compile_for_all_sizes(module, name, device)
        if program is None:
            return  # it is refined for each size
        for values, given in cases(rng, specs):
            expected = evaluated(refined(module, name, values), name, given)
            results = program.run([device.put(x.copy()) for x in given])
            assert_alike([x.numpy() for x in results], expected)
