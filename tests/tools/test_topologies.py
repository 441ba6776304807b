"""irax compile --topology: programs for chips that are not here."""

from __future__ import annotations

import re

import pytest
from tests.runtime.pjrt.pjrt_programs import needs_plugin, needs_tpu_compiler


@needs_tpu_compiler
def test_compile_for_a_tpu(irax, folder):
    options = ["--device", "tpu", "--topology", "v5e:2x2x1", "-o", "m.pjrt", "--hlo", "m.hlo"]
    done = irax("compile", "in.mlir", *options)
    assert done.returncode == 0, done.stderr
    told = dict(line.rsplit(maxsplit=2)[:2] for line in done.stderr.splitlines() if "bytes" in line)
    assert int(told["peak memory"].replace(",", "")) > 0
    assert int(told["code"].replace(",", "")) > 1000
    assert "main for one TPU v5 lite of v5e:2x2x1 (4)" in done.stderr
    assert (folder / "m.hlo").read_text().startswith("HloModule")
    assert b'"serialized": ["tpu", ' in (folder / "m.pjrt").read_bytes().partition(b"\n")[0]
    inputs = ("--input", "4xf32=0", "--input", "4xf32=1")
    refused = irax("run", "m.pjrt", *inputs, "--device", "tpu")
    assert "no TPU on this machine" in refused.stderr


@needs_tpu_compiler
def test_what_the_compiler_cannot_judge_is_unknown(irax, folder):
    text = (folder / "in.mlir").read_text()
    (folder / "doubles.mlir").write_text(text.replace("f32", "f64"))
    options = ["--device", "tpu", "--topology", "v5e:2x2x1", "-o", "m.pjrt"]
    told = irax("compile", "doubles.mlir", *options).stderr
    assert re.search(r"^at best +unknown$", told, re.MULTILINE), told
    assert not re.search(r"-\d", told), told
    told = irax("compile", "in.mlir", *options).stderr
    assert re.search(r"^transcendental +4$", told, re.MULTILINE), told


FUNCTION = """
import irax
from irax import lax
from irax.sharding import PartitionSpec as P


@irax.shard_map(in_specs=P("a", "b"), out_specs=P("a", "b"), check_vma=False)
def exchanged(x):
    x = lax.ppermute(lax.psum(x, "a"), "b", [(0, 1), (1, 0)])
    x = lax.all_to_all(x, "a", 1, 0, tiled=True) + lax.axis_index("b")
    return lax.psum_scatter(lax.all_gather(x, "b", tiled=True), "a", tiled=True)
"""


@needs_tpu_compiler
def test_compile_for_the_devices_of_a_mesh(irax, folder):
    (folder / "f.py").write_text(FUNCTION)
    options = ["--device", "tpu", "--topology", "v5e:2x2", "-o", "m.pjrt", "--args", "f32[16,16]"]
    done = irax("compile", "f.py:exchanged", "--mesh", "a=2,b=2", *options)
    assert done.returncode == 0, done.stderr
    assert "exchanged for 4 of TPU v5 lite of v5e:2x2 (4)" in done.stderr
    refused = irax("compile", "f.py:exchanged", "--mesh", "a=2,b=4", *options)
    assert refused.returncode != 0
    assert "8 devices (a=2, b=4): v5e:2x2 has 4; expected a larger topology" in refused.stderr


@needs_plugin
@pytest.mark.parametrize(
    "options, message",
    [
        ("--device tpu --topology v5e", "no topology 'v5e': expected a kind of chip and how many"),
        ("--device cuda --topology v5e:2x2", "expected with --device tpu or pjrt:NAME"),
        ("--device pjrt:cpu --topology v5e:2x2", "not supported for CPU"),
    ],
)
def test_what_is_no_topology(irax, folder, options, message):
    done = irax("compile", "in.mlir", *options.split(), "-o", "m.pjrt")
    assert done.returncode != 0
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 4  # with click's usage
    assert not (folder / "m.pjrt").exists()
