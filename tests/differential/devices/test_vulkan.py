"""Every case, its derivatives and its batched forms, on a Vulkan device, against the evaluator: in
float32, which is what Vulkan has, what is tested in float64 elsewhere. By default few of the forms;
all with IRAX_ALL_FORMS=1.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.differential import test_iree
from tests.differential.devices.test_pjrt import expected_of
from tests.differential.devices.test_pjrt import is_refused as needs_host
from tests.differential.harness import CASES, Case, assert_near
from tests.differential.test_iree import UNDETERMINED, Function
from tests.runtime.vulkan_programs import again_if_lost, device, needs_vulkan
from tests.sampling import ALL_FORMS

import irax
from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.vulkan import VULKAN

pytestmark = needs_vulkan

TARGET = "iree-vulkan"
IN_ONE_MODULE = 8
SAMPLE = 300
"""By default each so many-th form."""
ALWAYS = {("householder_qr", "vjp")}
"""Forms to try by default: in loops such as this one IREE loses buffers (`iree/references.py`)."""

_NARROWER = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


def narrower(case: Case) -> Case:
    """The case with float32 in the place of float64, and complex64 in that of complex128; itself
    where that makes no sense.
    """
    if case.name.endswith("-bits"):
        return case
    operands = [replace(o, dtype=_NARROWER.get(o.dtype, o.dtype)) for o in case.operands]
    if isinstance(case.subject, str):
        subject: Any = re.sub(r"(?<![a-z])f64\b", "f32", re.sub(r"xf64\b", "xf32", case.subject))
    else:
        subject = _narrower_op(case.subject)
    narrow = replace(case, subject=subject, operands=operands, differentiable=None)
    narrow.family = case.family
    try:
        narrow.run(narrow.arrays(narrow.rng()))
    except Exception:
        return case
    return case if "f64" in str(narrow.module()) else narrow


def _narrower_op(op: Any) -> Any:
    if not is_dataclass(op) or isinstance(op, type):
        return op
    values = {f.name: getattr(op, f.name) for f in fields(op) if f.init}
    changed = {
        name: _NARROWER[value]
        for name, value in values.items()
        if isinstance(value, np.dtype) and value in _NARROWER
    }
    return replace(op, **changed) if changed else op


def _has(case: Case, dtypes: Sequence[str]) -> bool:
    kinds = [o.dtype for o in case.operands] + [mlir.dtype_of_type(t) for t in case.result_types]
    return any(d.name in dtypes for d in kinds)


def _functions() -> Iterator[Function]:
    number = itertools.count()
    for case in CASES:
        if case.name in UNDETERMINED or _has(case, VULKAN.lacks_arrays_of):
            continue
        forms = ["value"] + ["batch"] * bool(case.operands)
        if case.has_derivative or (case.differentiable is None and case.name.endswith("-f32")):
            forms += ["jvp", "vjp"] + ["batch of vjp"] * bool(case.operands)
        for form in forms:
            is_chosen = next(number) % SAMPLE == 0 or (case.name, form) in ALWAYS
            if is_chosen or ALL_FORMS:
                yield Function(narrower(case), form)


def _modules() -> dict[str, Sequence[Function]]:
    functions = list(_functions())
    starts = range(0, len(functions), IN_ONE_MODULE)
    parts = [functions[i : i + IN_ONE_MODULE] for i in starts]
    return {f"{n}-{part[0].case.family}": part for n, part in enumerate(parts)}


MODULES = _modules()


def is_refused(function: Function) -> bool:
    """Return True if it needs functions of the host's, or dtypes that Vulkan does not have."""
    return needs_host(function) or "f64" in str(function.case.module())


def taken(functions: Sequence[Function]) -> list[Function]:
    """The functions that Vulkan takes. The others are refused before they are compiled."""
    rest = []
    for function in functions:
        module = mlir.new_module()
        name = function.add_to(module, "f")
        if not is_refused(function):
            rest.append(function)
            continue
        with pytest.raises(UnsupportedOp, match=rf"{'|'.join(VULKAN.lacks)}|call|LAPACK"):
            lower(module, name, TARGET)
    return rest


def _results(artefact: bytes, name: str, arrays: Sequence[Any]) -> list[Any]:
    program = device().load(artefact, name)
    return [result.numpy() for result in program([device().put(a) for a in arrays])]


@pytest.mark.slow
@pytest.mark.parametrize("functions", MODULES.values(), ids=MODULES)
def test_vulkan_agrees_with_the_evaluator(functions: Sequence[Function]) -> None:
    functions = taken(functions)
    if not functions:
        return
    module = mlir.new_module()
    names = [function.add_to(module, f"f{i}") for i, function in enumerate(functions)]
    for name, operation in mlir.functions(module).items():
        if name not in names:
            operation.attributes["sym_visibility"] = mlir.string("private")
    ready = mlir.clone_module(module)
    run_pipeline(ready, text_of(targets.find(TARGET).passes))
    artefact = targets.compile(ready, TARGET)
    wrong = []
    for function, name in zip(functions, names, strict=True):
        arrays = function.arguments()
        results = again_if_lost(partial(_results, artefact, name, arrays))
        expected = expected_of(mlir.clone_module(module), function, name, arrays)
        try:
            for result, value in zip(results, expected, strict=True):
                assert result.dtype == value.dtype
                tolerance = max(function.case.tolerance or 0, test_iree._rounding(value.dtype))
                assert_near(result, value, tolerance)
        except AssertionError as error:
            wrong.append(f"{function}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_divisions_of_long_vectors() -> None:
    """IREE made unsigned divisions, which it does not compile, of signed ones of vectors."""
    gpu = irax.devices("vulkan")[0]
    most = np.iinfo(np.uint32).max
    x = np.linspace(0, most, 2000).astype(np.uint32)
    found = irax.jit(lambda x: (x // 3, x % 7, x.astype(np.uint8) // 5))(irax.device_put(x, gpu))
    for y, expected in zip(found, (x // 3, x % 7, x.astype(np.uint8) // 5), strict=True):
        np.testing.assert_array_equal(y, expected)
    z = np.linspace(-30, 30, 2000).astype(np.float32)
    roots = irax.jit(irax.numpy.cbrt)(irax.device_put(z, gpu))
    np.testing.assert_allclose(roots, np.cbrt(z), rtol=1e-6)
