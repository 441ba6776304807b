"""Compiling for TPUs where there are none, with libtpu: in processes of their own, which it might
end.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

import pytest
from tests.runtime.pjrt.pjrt_programs import ADD, needs_tpu_compiler, prints, python

from irax_compiler import mlir, targets
from irax_compiler.lowering import lower, partition
from irax_compiler.targets import pjrt
from irax_runtime.vendors import tpu

DOT = """
func.func @dot(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] :
    (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
"""


def artefact(text: str, name: str) -> bytes:
    return pjrt.artefact(lower(mlir.parse_module(text), name, "tpu"))


def divided(mesh: Mapping[str, int], axis: str) -> bytes:
    """The artefact of a product whose contracted dimension an axis of a mesh divides."""
    whole = mlir.parse_module(DOT.replace("@dot", "@divided"))
    program = partition(whole, "divided", mesh, [((), (axis,))], [((), ())], "tpu")
    return pjrt.artefact(lower(program, "divided", "tpu"))


START = f"""
import os
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.topology import topology_for

DOT = {artefact(DOT, "dot")!r}
ADD = {artefact(ADD, "add")!r}
DOUBLES = {artefact(ADD.replace("f32", "f64"), "add")!r}
DIVIDED = {divided({"chips": 4}, "chips")!r}

def refused(use):
    try:
        use()
    except (PjrtError, ValueError) as error:
        return str(error)
    raise AssertionError(use)

topology = topology_for("tpu", "v5e:2x2x1")
"""


def compiles(expected: str, code: str) -> None:
    prints(expected, START + code)


@needs_tpu_compiler
def test_a_program_tells_what_it_costs():
    compiles(
        "[<v5e:2x2x1: 4 of TPU v5 lite>, <program dot for v5e:2x2x1>] 268435456 True True True",
        """
program = topology.compile(DOT)
costs, memory = program.cost_analysis(), program.memory_analysis()
assert memory["argument_size_in_bytes"] == memory["output_size_in_bytes"] == 1 << 20
assert [chip["coords"] for chip in topology.chips] == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
print(
    [topology, program],
    int(costs["flops"]),
    costs["bytes accessed"] >= 2 << 20,
    memory["generated_code_size_in_bytes"] > 1000,
    memory["peak_memory_in_bytes"] >= 2 << 20,
)
""",
    )


@needs_tpu_compiler
def test_what_the_compiler_cannot_judge_is_unknown():
    # XLA counts -1 for each conversion of a float64 to two parts and back.
    compiles(
        "nan True",
        """
import math
costs = topology.compile(DOUBLES).cost_analysis()
numbers = [value for value in costs.values() if not math.isnan(value)]
print(costs["optimal_seconds"], numbers and min(numbers) >= 0)
""",
    )


NARROW = """
func.func @f(%x: tensor<4x8xELEMENT>, %y: tensor<4x8xf32>)
    -> (tensor<4x4xf32>, tensor<4x8xELEMENT>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1]
    : (tensor<4x8xELEMENT>, tensor<4x8xELEMENT>) -> tensor<4x4xf32>
  %1 = stablehlo.convert %y : (tensor<4x8xf32>) -> tensor<4x8xELEMENT>
  %2 = stablehlo.add %x, %1 : tensor<4x8xELEMENT>
  return %0, %2 : tensor<4x4xf32>, tensor<4x8xELEMENT>
}
"""


@needs_tpu_compiler
def test_narrow_floats_compile():
    modules = [
        targets.compile(lower(mlir.parse_module(NARROW.replace("ELEMENT", e)), "f", "tpu"), "tpu")
        for e in ("f4E2M1FN", "f8E3M4", "f8E4M3")
    ]
    compiles("3", f"print(len([topology.compile(module) for module in {modules!r}]))")


@needs_tpu_compiler
def test_the_compiler_uses_donated_memory_for_a_result_of_another_type():
    text = """
      func.func @f(%x: tensor<512x256xf32>) -> tensor<256x512xi32> {
        %0 = stablehlo.convert %x : (tensor<512x256xf32>) -> tensor<512x256xi32>
        %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<512x256xi32>) -> tensor<256x512xi32>
        return %1 : tensor<256x512xi32>
      }"""
    given = pjrt.artefact(lower(mlir.parse_module(text), "f", "tpu"), (0,))
    compiles(
        str(512 * 256 * 4),
        f"print(topology.compile({given!r}).memory_analysis()['alias_size_in_bytes'])",
    )


@needs_tpu_compiler
def test_the_optimised_program_and_its_bytes():
    compiles(
        "HloModule main True True {'serialized': 'tpu', 'name': 'dot'}",
        """
import json
program = topology.compile(DOT)
hlo = program.optimized_hlo()
header, _, data = program.serialize().partition(b"\\n")
told = json.loads(header.removeprefix(b"// irax: "))
print(
    hlo.partition(",")[0],
    "f32[512,512]" in hlo and ("convolution" in hlo or "dot" in hlo),
    len(data) > 10000,
    {"serialized": told["serialized"][0], "name": told["name"]},
)
assert "compiled already" in refused(lambda: topology.compile(program.serialize()))
""",
    )


@needs_tpu_compiler
def test_a_program_of_several_chips():
    compiles(
        "262144 4 True",
        """
program = topology.compile(DIVIDED)
text = program.optimized_hlo()
told = refused(lambda: topology_for("tpu", "v5e:1x1").compile(DIVIDED))
collective = "all-reduce" in text or "all-gather" in text
expected = "divided is a program of 4 devices (chips=4): v5e:1x1 has 1; expected a larger topology"
assert told.startswith(expected), told
print(program.memory_analysis()["argument_size_in_bytes"], program.count, collective)
""",
    )


TOPOLOGIES = {
    "v2:2x2x1": 8,  # two devices to a chip
    "v3:2x2x1": 8,
    "v4:2x2x1": 8,
    "v5e:2x2x1": 4,
    "v5e:4x2": 8,  # whose devices libtpu lists in another order than that of their numbers
    "v5p:2x2x2": 8,
    "v6e:2x4": 8,
    "tpu7x:2x2x1": 8,
}


@pytest.mark.slow
@needs_tpu_compiler
def test_every_topology_takes_programs_of_every_mesh():
    meshes = ("2", "2x2", "8", "2x2x2")
    modules = {
        (mesh, axis): divided(sizes, axis)
        for mesh in meshes
        for sizes in [dict(zip("abc", map(int, mesh.split("x")), strict=False))]
        for axis in sizes
    }
    sizes = [math.prod(map(int, mesh.split("x"))) for mesh, _ in modules]
    fitting = sum(size <= count for size in sizes for count in TOPOLOGIES.values())
    compiles(
        f"{fitting}",
        f"""
import math
from irax_runtime.pjrt import topology as module

MODULES = {modules!r}
handed = []
made = module.compile_options
module.compile_options = lambda devices, settings: (
    handed.append(list(devices)) or made(devices, settings)
)
compiled = 0
for name, count in {TOPOLOGIES!r}.items():
    topology = topology_for("tpu", name)
    ids = [chip["id"] for chip in topology.chips]
    assert ids == list(range(count)), (name, ids)
    for (mesh, axis), artefact in MODULES.items():
        needed = math.prod(map(int, mesh.split("x")))
        if needed > count:
            assert "expected a larger topology" in refused(lambda: topology.compile(artefact))
            continue
        assert topology.compile(artefact).count == needed
        assert handed[-1] == ids[:needed], (name, mesh, handed[-1])
        compiled += 1
print(compiled)
""",
    )


@needs_tpu_compiler
def test_the_environment_is_as_it_was_before():
    compiles("set()", 'print({name for name in os.environ if "TPU" in name} - {"TPU_X"})\n')


@needs_tpu_compiler
def test_what_would_end_the_process_is_refused():
    compiles(
        "7 True",
        r"""
header = b'// irax: {"name": "f", "args": "", "results": ""}\n'
unknown_size = header + b"func.func @main(%x: tensor<4x?xf32>) { return }"
assert "dimensions of unknown size" in refused(lambda: topology.compile(unknown_size))
names = ["v5e:0x2", "v5e:17x2", "v4:2x2x0", "v5e", "", "v5e:ax2", "v5e:2x65"]
for name in names:
    told = refused(lambda: topology_for("tpu", name))
    assert told.startswith(f"no topology {name!r}: expected "), told
print(len(names), topology.compile(ADD).cost_analysis()["flops"] > 0)
""",
    )


@needs_tpu_compiler
def test_what_the_compiler_refuses_is_an_error_and_the_process_goes_on():
    compiles(
        "True",
        r"""
header = b'// irax: {"name": "f", "args": "", "results": ""}\n'
nonsense = header + b'func.func @main() { "stablehlo.nonsense"() : () -> () return }'
assert "stablehlo.nonsense" in refused(lambda: topology.compile(nonsense))
assert "v9z" in refused(lambda: topology_for("tpu", "v9z:2x2"))
assert "not divisible" in refused(lambda: topology_for("tpu", "v5e:3x3"))
large = DOT.replace(b"512x512", b"200000x200000").replace(b"512,512", b"200000,200000")
assert "Ran out of memory" in refused(lambda: topology.compile(large))
print(topology.compile(ADD).cost_analysis()["flops"] > 0)
""",
    )


@needs_tpu_compiler
def test_a_forked_process_is_told_to_be_another():
    compiles(
        "True 0",
        """
import sys
child = os.fork()
if child == 0:
    print("'spawn'" in refused(lambda: topology.compile(ADD)), end=" ", flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
""",
    )


@needs_tpu_compiler
@pytest.mark.skipif(tpu.is_here(), reason="there is a TPU here")
def test_there_is_no_tpu_here():
    done = python("import irax\ntry:\n  irax.devices('tpu')\nexcept RuntimeError as e:\n  print(e)")
    assert done.stdout.startswith("Unknown backend: no platform 'tpu' here: no TPU on this machine")


def test_the_host_of_a_tpu_is_told_nothing(monkeypatch: pytest.MonkeyPatch):
    before = dict(os.environ)
    monkeypatch.setattr(tpu, "is_here", lambda: True)
    with tpu.only_to_compile():
        assert dict(os.environ) == before
    monkeypatch.setattr(tpu, "is_here", lambda: False)
    monkeypatch.setenv("TPU_WORKER_HOSTNAMES", "mine")
    with tpu.only_to_compile():
        assert os.environ["TPU_SKIP_MDS_QUERY"] == "1"
        assert os.environ["TPU_WORKER_HOSTNAMES"] == "mine"
    assert dict(os.environ) == {**before, "TPU_WORKER_HOSTNAMES": "mine"}
