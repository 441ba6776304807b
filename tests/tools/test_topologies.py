"""irax compile --topology: programs for chips that are not here."""

from __future__ import annotations

import pytest
from tests.runtime.pjrt_programs import needs_plugin, needs_tpu_compiler


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
