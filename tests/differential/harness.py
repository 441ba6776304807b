"""Cases of ops, and the arithmetic that the tests of all cases share.

A file `cases_<family>.py` beside this one has a list `CASES`, and a set `NOT_DIFFERENTIABLE` of op
names if some of its ops have no derivative; the files are found by their names.

    Case("sine", elementwise.sine, [f64(2, 3)], each(math.sin))
"""

import importlib
import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.evaluation.steps import inputs
from irax_compiler.ops.registry import read

Arrays = list[np.ndarray]

# ---- operands ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Operand:
    """A shape and dtype, and how to draw values for it."""

    shape: tuple[int, ...]
    dtype: np.dtype
    draw: Callable[[np.random.Generator], np.ndarray]

    @property
    def inexact(self) -> bool:
        return mlir.inexact(self.dtype)

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.draw(rng)).astype(self.dtype).reshape(self.shape)

    def lanes(self, rng: np.random.Generator, size: int, axis: int) -> np.ndarray:
        """Independent values for each index of a further axis."""
        return np.stack([self.drawn(rng) for _ in range(size)], axis)


def of(dtype: Any, *shape: int, low: float = -1.5, high: float = 1.5) -> Operand:
    """Values of any dtype from low to high, both included for integers."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return Operand(shape, dtype, lambda rng: rng.random(shape) < 0.5)
    if dtype.kind == "c":
        return Operand(shape, dtype, lambda rng: rng.uniform(low, high, (2, *shape)).T @ [1, 1j])
    if mlir.inexact(dtype):
        return Operand(shape, dtype, lambda rng: rng.uniform(low, high, shape))
    kind = np.uint64 if low >= 0 else np.int64
    return Operand(
        shape, dtype, lambda rng: rng.integers(int(low), int(high), shape, kind, endpoint=True)
    )


def f64(*shape: int, low: float = -1.5, high: float = 1.5) -> Operand:
    return of(np.float64, *shape, low=low, high=high)


def i32(*shape: int, low: int = -9, high: int = 9) -> Operand:
    return of(np.int32, *shape, low=low, high=high)


def boolean(*shape: int) -> Operand:
    return of(np.bool_, *shape)


def fixed(array: Any, dtype: Any = None) -> Operand:
    """One value and no other."""
    array = np.asarray(array, dtype)
    return Operand(array.shape, array.dtype, lambda rng: array)


# ---- cases ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Case:
    """An op with operands, and a formula for its result that owes irax nothing."""

    name: str
    subject: Op | str
    """The op, or the text of a module whose @main is what is tested."""
    operands: Sequence[Operand]
    reference: Callable[..., Any]
    """Computes the result, or a tuple of results, of the operands; narrow floats are float64 there.
    """
    tolerance: float | None = None
    """Relative error of the result; by default a few units in the last place of its dtype."""
    step: float = 1e-6
    """The step of finite differences; may be large for linear functions."""
    derivative_tolerance: float = 1e-6
    wrt: Sequence[int] | None = None
    """The operands with a derivative; by default all that are inexact."""
    differentiable: bool | None = None
    """True to test its derivatives; by default, they are tested if all floats among its operands
    and results are float64 or complex128, which finite differences need."""
    family: str = field(default="", init=False)

    def module(self) -> mlir.Module:
        """A new module with @main."""
        if isinstance(self.subject, str):
            return mlir.parse_module(self.subject)
        module = mlir.new_module()
        types = [mlir.tensor_type(o.shape, o.dtype) for o in self.operands]
        function = mlir.new_function(module, "main", types, public=True)
        block = mlir.body(function)
        with mlir.InsertionPoint(block), mlir.UNKNOWN:
            results = self.subject.build(list(block.arguments))
        mlir.finish_function(function, results)
        module.operation.verify()
        return module

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.module())

    def run(self, arrays: Sequence[np.ndarray]) -> Arrays:
        """The results by the evaluator."""
        return self._evaluator("main", arrays)

    @cached_property
    def result_types(self) -> list[Any]:
        return list(result_types(self._evaluator.functions["main"]))

    @cached_property
    def op_names(self) -> list[str]:
        *body, _ = mlir.body(self._evaluator.functions["main"]).operations
        operations = [view.operation for view in body]
        return [read(o).name if o.name == "stablehlo.composite" else o.name for o in operations]

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(f"{self.family}-{self.name}".encode()))

    def arrays(self, rng: np.random.Generator) -> Arrays:
        return [o.drawn(rng) for o in self.operands]

    @property
    def active(self) -> Sequence[int]:
        """The operands with a derivative."""
        if self.wrt is not None:
            return self.wrt
        return [i for i, o in enumerate(self.operands) if o.inexact]

    @property
    def has_derivative(self) -> bool:
        """Return True if finite differences can test it."""
        if self.differentiable is not None:
            return self.differentiable
        kinds = {o.dtype for o in self.operands if o.inexact}
        results = {mlir.dtype_of_type(t) for t in self.result_types}
        results = {d for d in results if mlir.inexact(d)}
        wide = {np.dtype(np.float64), np.dtype(np.complex128)}
        return bool(kinds) and bool(results) and kinds | results <= wide

    def linear_subsets(self) -> Iterator[tuple[int, ...]]:
        """The sets of operands in which, the others being what they are, @main is linear.

        Where nothing is computed from nothing, it would seem to be in all.
        """
        if any(0 in x.shape for x in [*self.operands, *self.result_types]):
            return
        for subset in subsets(self.active):
            rng = self.rng()
            fixed = self.arrays(rng)
            x, y = (
                [directions(rng, [a])[0] if i in subset else a for i, a in enumerate(fixed)]
                for _ in range(2)
            )
            mixed = [
                2 * a - 3 * b if i in subset else a
                for i, (a, b) in enumerate(zip(x, y, strict=True))
            ]
            results = zip(self.run(x), self.run(y), self.run(mixed), strict=True)
            with np.errstate(invalid="ignore"):
                is_linear = all(np.allclose(2 * f - 3 * g, h) for f, g, h in results)
            if is_linear:
                yield subset


def subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    """All but the empty one."""
    counts = range(1, len(items) + 1)
    return [s for n in counts for s in itertools.combinations(items, n)]


def result_types(function: mlir.Operation) -> Iterator[Any]:
    for value in mlir.terminator(mlir.body(function)).operands:
        yield value.type


def each(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """A Python function of numbers, element by element."""
    return np.vectorize(function, otypes=[object])


def _collect() -> tuple[list[Case], set[str]]:
    cases: list[Case] = []
    not_differentiable: set[str] = set()
    for path in sorted((Path(__file__).parent / "cases").glob("cases_*.py")):
        module = importlib.import_module(f"tests.differential.cases.{path.stem}")
        for case in module.CASES:
            case.family = path.stem.removeprefix("cases_")
        cases += module.CASES
        not_differentiable |= getattr(module, "NOT_DIFFERENTIABLE", set())
    return cases, not_differentiable


# ---- comparing -----------------------------------------------------------------------------------


def assert_typed(actual: np.ndarray, type_: Any) -> None:
    """The array has the shape and dtype of an MLIR type."""
    assert (actual.shape, actual.dtype) == (tuple(type_.shape), mlir.dtype_of_type(type_))


def assert_near(actual: np.ndarray, expected: Any, tolerance: float | None = None) -> None:
    """Equal for integers; for floats within a relative tolerance of the largest element, nan being
    equal to nan, by default a few units in the last place of the dtype of `actual`.
    """
    dtype = actual.dtype
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    if not mlir.inexact(dtype):
        bits = mlir.width(dtype)
        for a, b in zip(actual.ravel().tolist(), expected.ravel().tolist(), strict=True):
            assert int(a) % 2**bits == int(b) % 2**bits, (actual, expected)
        return
    wide = np.complex128 if dtype.kind == "c" else np.float64
    actual, expected = actual.astype(wide), expected.astype(wide)
    if tolerance is None:
        tolerance = (0.51 if dtype.itemsize < 4 else 16) * epsilon(dtype)
    finite = np.abs(expected[np.isfinite(expected)])
    scale = finite.max(initial=0) if dtype.itemsize >= 4 else 0
    np.testing.assert_allclose(
        actual, expected, rtol=tolerance, atol=tolerance * scale + smallest(dtype), equal_nan=True
    )


def epsilon(dtype: np.dtype) -> float:
    return float(ml_dtypes.finfo(_part(dtype)).eps)


def smallest(dtype: np.dtype) -> float:
    return float(ml_dtypes.finfo(_part(dtype)).smallest_subnormal)


def _part(dtype: np.dtype) -> np.dtype:
    return np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype


def dot(xs: Sequence[np.ndarray], ys: Sequence[np.ndarray]) -> Any:
    """The real part of the inner product of two lists of arrays, without conjugation."""
    wide = [
        np.sum(x.astype(np.complex128) * y.astype(np.complex128))
        for x, y in zip(xs, ys, strict=True)
    ]
    return np.real(sum(wide))


def only_inexact(arrays: Sequence[np.ndarray]) -> Arrays:
    return [a for a in arrays if mlir.inexact(a.dtype)]


def directions(rng: np.random.Generator, like: Sequence[np.ndarray]) -> Arrays:
    """Random tangents or cotangents."""
    return [of(a.dtype, *a.shape, low=-1, high=1).drawn(rng) for a in like]


def rebuilt(module: mlir.Module, source: str, name: str) -> None:
    """Adds @name: each operation of @source read, and built again."""
    old = mlir.functions(module)[source]
    arguments = list(mlir.body(old).arguments)
    new = mlir.new_function(module, name, [a.type for a in arguments], public=True)
    env = dict(zip(arguments, mlir.body(new).arguments, strict=True))
    operations = [o.operation for o in mlir.body(old).operations]
    with mlir.InsertionPoint(mlir.body(new)), mlir.UNKNOWN:
        for operation in operations[:-1]:
            op = read(operation)
            results = op.build([env[v] for v in inputs(op, operation)])
            env.update(zip(operation.results, results, strict=True))
    mlir.finish_function(new, [env[v] for v in operations[-1].operands])


CASES, NOT_DIFFERENTIABLE = _collect()
