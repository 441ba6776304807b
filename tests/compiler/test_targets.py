"""Targets: what each declares, and one that another package adds in a single file."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.passes import PassError
from irax_compiler.passes.legalize import target as target_module
from irax_compiler.passes.on_demand import OnDemand
from irax_compiler.pipeline import parse_pipeline, run_pipeline, text_of

PACKAGE = '''
"""A device whose programs are StableHLO's text, and which adds by subtracting a negation."""

from dataclasses import dataclass

from irax_compiler.ops.elementwise import negate, subtract
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.standard import standard_passes
from irax_compiler.targets import Target, register


@legalizes("stablehlo.add", kind="missing", of="the abacus")
def addition(operation):
    """It cannot add."""
    x, y = operation.operands
    return [subtract(x, negate(y))]


@dataclass(frozen=True, kw_only=True)
class AbacusTarget(Target):
    """An abacus."""

    def compile(self, module, chip="", donated=()):
        return str(module).encode()


register(
    AbacusTarget(
        name="abacus",
        passes=standard_passes("abacus"),
        legalizations=(addition,),
        lacks=frozenset({"complex64"}),
        extension=".abacus",
    )
)
'''

TEXT = """
func.func @main(%x: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %0 = stablehlo.add %x, %x : tensor<4xTYPE>
  return %0 : tensor<4xTYPE>
}
"""


def module(dtype: str) -> mlir.Module:
    return mlir.parse_module(TEXT.replace("TYPE", dtype))


@pytest.fixture
def abacus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> targets.Target:
    path = tmp_path / "abacus.py"
    path.write_text(PACKAGE)
    targets.all_targets()
    monkeypatch.setattr(target_module, "_targets", dict(target_module._targets))
    runpy.run_path(str(path))
    return targets.find("abacus")


def test_another_package_adds_a_target(abacus: targets.Target) -> None:
    assert abacus in targets.all_targets()
    assert targets.for_platform("abacus") == "abacus"
    text = targets.compile(lower(module("f32"), target="abacus"), "abacus").decode()
    assert "stablehlo.subtract" in text
    assert "stablehlo.add" not in text
    with pytest.raises(UnsupportedOp, match="abacus does not compute with complex64"):
        lower(module("complex<f32>"), target="abacus")
    with pytest.raises(ValueError, match="abacus has no chips"):
        targets.for_platform("abacus", "wood")


def test_passes_take_it_by_name(abacus: targets.Target) -> None:
    copy = module("f32")
    run_pipeline(copy, "check{target=abacus},legalize{target=abacus}")
    assert "stablehlo.subtract" in str(copy)


def test_who_needs_one_target_imports_no_other() -> None:
    source = """
import sys
from irax_compiler import targets
targets.find("iree-cpu")
names = ("targets.vulkan", "targets.pjrt", "passes.legalize.gpu.steps")
print([f"irax_compiler.{name}" in sys.modules for name in names])
print(targets.find("iree-vulkan").name)
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[False, False, False]", "iree-vulkan"]


@pytest.mark.parametrize("name", ["iree-toaster", ""])
def test_what_is_not_there_is_told(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown target .*; there are .*iree-cpu"):
        targets.find(name)
    with pytest.raises(PassError, match="legalize: unknown target"):
        run_pipeline(module("f32"), f"legalize{{target={name}}}" if name else "legalize")


@pytest.mark.parametrize("target", targets.all_targets(), ids=lambda target: target.name)
def test_pipelines_are_text_and_back(target: targets.Target) -> None:
    alone = [x.made() if isinstance(x, OnDemand) else x for x in target.passes]
    assert parse_pipeline(text_of(target.passes)) == alone


@pytest.mark.parametrize("target", targets.all_targets(), ids=lambda target: target.name)
def test_legalizations_stand_once(target: targets.Target) -> None:
    names = [one.name for one in target.legalizations]
    assert len(set(names)) == len(names)
