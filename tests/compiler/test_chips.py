"""The chips that targets know, and what is said of others."""

import pytest
from tests.sampling import ALL_FORMS

from irax_compiler import chips, mlir, targets

PROGRAM = """
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""
EACH = [(t.name, c) for t in targets.all_targets() if t.has_chips for c in t.chips]
SOME = EACH if ALL_FORMS else EACH[::24]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("target", "chip"), SOME)
def test_known_chips_compile(target: str, chip: str) -> None:
    assert targets.compile(mlir.parse_module(PROGRAM), f"{target}:{chip}").startswith(b"PK")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("iree-toaster", "there are iree-cpu, iree-cuda"),
        ("iree-cpu:pentium", "no chip 'pentium'; there are host"),
        ("iree-vulkan:h100", "no chip 'h100'; there are rdna1"),
        ("iree-cuda:sm_9", "no chip 'sm_9'; there are sm_80"),
        ("iree-cuda:sm_90", "no sm_90; programs for sm_80 run on newer chips"),
        ("iree-cuda:h100", "no h100; programs for sm_80 run on newer chips"),
        ("iree-hip:gfx1", "no chip 'gfx1'; there are gfx908"),
        ("iree-metal:m1", "no chips to choose from"),
    ],
)
def test_others_are_refused_by_name(target: str, message: str) -> None:
    """IREE would crash, or end the process."""
    with pytest.raises(ValueError, match=message):
        targets.compile(mlir.parse_module(PROGRAM), target)


@pytest.mark.parametrize(
    ("is_x86", "flags", "has"),
    [(True, {"sse2", "f16c"}, True), (True, {"sse2"}, False), (False, set(), True)],
)
def test_instructions_for_float16(monkeypatch, is_x86, flags, has) -> None:
    monkeypatch.setattr(chips, "IS_X86", is_x86)
    monkeypatch.setattr(chips, "_flags", lambda: flags)
    assert chips.converts_halves() == has
