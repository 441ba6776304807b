"""Every case, its derivatives and its batched forms, compiled by IREE, against the evaluator.

Many functions share a module, because a compile costs a third of a second before it does anything.
By default a 16th of the forms are compiled, a 48th in families that take long; all with
IRAX_ALL_FORMS=1.
"""

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from tests.differential.harness import (
    CASES,
    Arrays,
    Case,
    assert_near,
    directions,
    epsilon,
    of,
    only_inexact,
)
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.iree.invocation import CompileError
from irax_compiler.lowering import lower
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

LANES = 2
FORMS = ("value", "jvp", "vjp", "batch", "batch of vjp")
IN_ONE_MODULE = 24


@dataclass(frozen=True, eq=False)
class Function:
    """A form of a case: what pass makes it, and of what arguments."""

    case: Case
    form: str

    def __str__(self) -> str:
        return f"{self.case.family}-{self.case.name} ({self.form})"

    def arguments(self) -> Arrays:
        rng = self.case.rng()
        operands = self.case.operands
        if self.form == "batch":
            return [o.lanes(rng, LANES, 0) for o in operands]
        x = self.case.arrays(rng)
        if self.form == "value":
            return x
        if self.form == "jvp":
            return [*x, *directions(rng, [x[i] for i in self.case.active])]
        u = directions(rng, only_inexact(self.case.run(x)))
        if self.form == "vjp":
            return [*x, *u]
        lanes = [o.lanes(rng, LANES, 0) for o in operands]
        return [*lanes, *(np.stack([a, -a]) for a in u)]

    def add_to(self, module: mlir.Module, name: str) -> str:
        """Adds the function, public, and returns its name."""
        copied = mlir.copy_functions(self.case.module(), "main", module)["main"]
        mlir.functions(module)[copied].attributes["sym_name"] = mlir.string(name)
        chosen = ",".join(map(str, self.case.active))
        pipeline, suffix = {
            "value": ("", ""),
            "jvp": (f"jvp{{func={name} wrt={chosen}}}", ".jvp"),
            "vjp": (f"vjp{{func={name} wrt={chosen}}}", ".vjp"),
            "batch": (f"batch{{func={name} size={LANES}}}", ".batch"),
            "batch of vjp": (
                f"vjp{{func={name} wrt={chosen}}},batch{{func={name}.vjp size={LANES}}}",
                ".vjp.batch",
            ),
        }[self.form]
        if pipeline:
            run_pipeline(module, pipeline)
        for function_name, function in mlir.functions(module).items():
            if function_name == name + suffix:
                mlir.make_public(function)
            elif function_name.startswith(name + "."):
                function.attributes["sym_visibility"] = mlir.string("private")
        return name + suffix


def _at_the_boundary(case: Case) -> bool:
    """Return True if it has arrays of all its types, and of more than 4 bits: test_widen.py runs
    the others. It has none of floats that the evaluator alone knows.
    """
    dtypes = [o.dtype for o in case.operands] + [mlir.dtype_of_type(t) for t in case.result_types]
    return not any(d.name in CPU.lacks | CPU.lacks_arrays_of | CPU.callbacks_lack for d in dtypes)


SLOW = {
    *("complex", "convolution", "factorizations", "fft", "fold", "gamma", "integrals"),
    *("linalg", "sort", "special", "windows"),
}
"""Families whose cases take IREE three times as long as others to compile: many kernels each."""

UNDETERMINED = {"scatter-set-overlapping"}
"""Cases without one right result: of windows that overlap, any may win."""


def _functions() -> Iterator[Function]:
    for case in CASES:
        if case.name in UNDETERMINED or not _at_the_boundary(case):
            continue
        forms = ["value"]
        if case.operands:
            forms.append("batch")
        if case.has_derivative or (case.differentiable is None and case.name.endswith("-f32")):
            forms += ["jvp", "vjp"] + ["batch of vjp"] * bool(case.operands)
        number, every = zlib.crc32(case.name.encode()), 48 if case.family in SLOW else 16
        for i, form in enumerate(forms):
            if ALL_FORMS or (i + number) % every == 0:
                yield Function(case, form)


def _modules() -> dict[str, Sequence[Function]]:
    modules = {}
    for family, functions in itertools.groupby(_functions(), lambda f: f.case.family):
        for number, part in enumerate(_parts(list(functions))):
            modules[f"{family}-{number}"] = part
    return modules


def _parts(functions: list[Function]) -> list[list[Function]]:
    return [functions[i : i + IN_ONE_MODULE] for i in range(0, len(functions), IN_ONE_MODULE)]


MODULES = _modules()


def lowered(functions: Sequence[Function]) -> tuple[mlir.Module, mlir.Module, list[str]]:
    """A module of the functions, the same ready for IREE, and their names."""
    module = mlir.new_module()
    names = [function.add_to(module, f"f{i}") for i, function in enumerate(functions)]
    for name, operation in mlir.functions(module).items():
        if name not in names:
            operation.attributes["sym_visibility"] = mlir.string("private")
    ready = mlir.clone_module(module)
    run_pipeline(ready, text_of(CPU.passes))
    return module, ready, names


def compiled(functions: Sequence[Function], ready: mlir.Module) -> bytes:
    """The artefact. Where IREE refuses the module, the error says which functions it refuses."""
    try:
        return CPU.compile_text(mlir.bytecode(ready))
    except CompileError:
        refused = []
        for function in functions:
            try:
                CPU.compile_text(mlir.bytecode(lowered([function])[1]))
            except CompileError as error:
                refused.append(f"{function}: {error}")
        raise AssertionError("\n".join(refused) or "only all together") from None


@pytest.mark.sampled(9)
@pytest.mark.parametrize("functions", MODULES.values(), ids=MODULES)
def test_iree_agrees_with_the_evaluator(functions: Sequence[Function]) -> None:
    module, ready, names = lowered(functions)
    artefact = compiled(functions, ready)
    evaluator = Evaluator(module)
    wrong = []
    for function, name in zip(functions, names, strict=True):
        arrays = function.arguments()
        results = cpu().load(artefact, name)([cpu().put(a) for a in arrays])
        expected = evaluator(name, arrays)
        try:
            for result, value in zip(results, expected, strict=True):
                assert result.dtype == value.dtype
                tolerance = max(function.case.tolerance or 0, _rounding(value.dtype))
                assert_near(result.numpy(), value, tolerance)
        except AssertionError as error:
            wrong.append(f"{function}: {error}")
    assert not wrong, "\n".join(wrong)


def _rounding(dtype: np.dtype) -> float:
    if not mlir.inexact(dtype):
        return 0.0
    return (2 if dtype.itemsize < 4 else 100) * epsilon(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", ["i2", "i4", "ui2", "ui4"])
def test_integers_of_few_bits_have_a_byte_each_at_the_boundary(text: str) -> None:
    dtype, t = mlir.DTYPES[text], f"tensor<19x{text}>"
    module = mlir.parse_module(
        f"""
        func.func @main(%x: {t}, %y: {t}) -> ({t}, tensor<19xf32>, tensor<19xi1>) {{
          %0 = stablehlo.add %x, %y : {t}
          %1 = stablehlo.convert %x : ({t}) -> tensor<19xf32>
          %2 = stablehlo.compare LT, %x, %y : ({t}, {t}) -> tensor<19xi1>
          return %0, %1, %2 : {t}, tensor<19xf32>, tensor<19xi1>
        }}
        """
    )
    x, y = (np.arange(a, a + 19, dtype=np.int32).astype(dtype) for a in (-9, 4))
    executable = cpu().load(CPU.compile_text(mlir.bytecode(lower(module))))
    assert executable.arguments is not None
    assert [type_.dtype for type_ in executable.arguments] == [dtype, dtype]
    total, floats, less = (x.numpy() for x in executable([cpu().put(x), cpu().put(y)]))
    assert total.dtype == dtype
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(floats, x.astype(np.float32))
    np.testing.assert_array_equal(less, x < y)
    again, _, _ = executable([cpu().put(total), cpu().put(np.zeros_like(y))])
    np.testing.assert_array_equal(again.numpy(), x + y)


SQUARES_OF_POOLS = """
func.func @main(%x: tensor<8x56x56x64xf32>) -> tensor<8x28x28x64xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{
    padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>,
    window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<8x28x28x64xf32>
  %2 = stablehlo.multiply %0, %0 : tensor<8x28x28x64xf32>
  return %2 : tensor<8x28x28x64xf32>
}
"""


def test_large_tiles_fit_on_the_stacks_of_threads() -> None:
    case = Case("pool", SQUARES_OF_POOLS, [of(np.float32, 8, 56, 56, 64)], lambda x: x)
    module = mlir.new_module()
    function = Function(case, "vjp")
    name = function.add_to(module, "f")
    arrays = function.arguments()
    executable = cpu().load(CPU.compile_text(mlir.bytecode(lower(module, name))), name)
    results = executable([cpu().put(a) for a in arrays])
    for result, value in zip(results, Evaluator(module)(name, arrays), strict=True):
        assert_near(result.numpy(), value)
