"""Programs compiled for NVIDIA's GPUs that are not here, by XLA's plugin for CUDA."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from irax_compiler import lowering, mlir, targets
from irax_runtime.pjrt import plugins
from irax_runtime.pjrt.errors import PluginError
from irax_runtime.platforms import PJRT_CUDA
from irax_runtime.vendors import gpu_topologies
from irax_tools.cli import main


def _is_absent() -> bool:
    try:
        plugins.plugin_for("cuda")
    except PluginError:
        return True
    return False


needs_compiler = pytest.mark.needs_system(
    _is_absent() and "the plugin for CUDA is not installed: pip install jax-cuda13-pjrt"
)
GPUS = {"h100:1x1x4": 4, "h100:1x1x8": 8, "h100:1x2x8": 16}


@pytest.mark.parametrize("name", GPUS)
def test_the_plugin_is_told_of_the_chips(name: str):
    PJRT_CUDA.check_topology(name)
    assert gpu_topologies.is_one(name)
    told: Any = PJRT_CUDA.topology(name)
    assert told["topology"] == name.partition(":")[2]
    assert "H100" in told["target_config"]


@pytest.mark.parametrize("name", ["h100", "h100:4", "h100:0x1x4", "v5e:2x2x1", "h100:1x1x4x1", ""])
def test_other_names_are_refused(name: str):
    with pytest.raises(ValueError, match="expected one of the chips h100, and the numbers of part"):
        PJRT_CUDA.check_topology(name)


TRAINING = """
func.func @main(%w: tensor<32x64xf32>, %x: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %s = stablehlo.dot_general %x, %h, contracting_dims = [0] x [0]
    : (tensor<64x32xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %n = stablehlo.subtract %w, %s : tensor<32x64xf32>
  return %n : tensor<32x64xf32>
}
"""


@needs_compiler
@pytest.mark.parametrize("name", GPUS)
@pytest.mark.parametrize("kind", ["data", "sharded"])
def test_a_partitioned_program_compiles_for_all_chips(name: str, kind: str):
    from irax_runtime.pjrt.topology import topology_for

    count = GPUS[name]
    chips = topology_for("cuda", name)
    assert len(chips.chips) == math.prod(map(int, chips.name.partition(":")[2].split("x"))) == count
    rows, whole = (("d",), ()), ((), ())
    weights = rows if kind == "sharded" else whole
    module = mlir.parse_module(TRAINING)
    divided = lowering.partition(module, "main", {"d": count}, [weights, rows], [weights], "pjrt")
    lowered = lowering.lower(divided, "main", chips.target)
    program = chips.compile(targets.compile(lowered, chips.target))
    assert program.serialize()
    hlo = program.optimized_hlo()
    assert f"replica_groups={{{{{','.join(map(str, range(count)))}}}}}" in hlo or (
        f"[1,{count}]" in hlo
    ), hlo
    assert "all-reduce" in hlo or "reduce-scatter" in hlo
    assert ("all-gather" in hlo) == (kind == "sharded")


@needs_compiler
def test_the_command_tells_what_is_known(tmp_path: Path):
    (tmp_path / "model.mlir").write_text(TRAINING)
    command = ["compile", str(tmp_path / "model.mlir"), "--device", "pjrt:cuda", "-o"]
    found = CliRunner().invoke(main, [*command, str(tmp_path / "o"), "--topology", "h100:1x1x4"])
    assert found.exit_code == 0, found.output
    assert "of h100:1x1x4 (4)" in found.output
    assert "arguments             16,384 bytes" in found.output
