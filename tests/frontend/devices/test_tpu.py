"""Programs for TPUs that are not here: `jit(f).lower(x).compile(topology=...)`, and what the
examples do most of their work in. By default two of them; all with IRAX_ALL_FORMS=1.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from tests.frontend.devices.tpu_worker import EXAMPLES
from tests.runtime.pjrt.pjrt_programs import needs_tpu_compiler, prints
from tests.sampling import ALL_FORMS

pytestmark = needs_tpu_compiler

TOPOLOGY = "v5e:2x2x1"
ALL = sorted(path.stem for path in EXAMPLES.glob("*.py"))
SAMPLE = ["digits", "gaussian_process"]


@pytest.mark.parametrize("example", ALL if ALL_FORMS else SAMPLE)
def test_an_example_is_compiled(example: str):
    done = subprocess.run(
        [sys.executable, "-m", "tests.frontend.devices.tpu_worker", TOPOLOGY, example],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    numbers = re.findall(r"(flops|code|peak) (\S+?)[, ]", done.stdout)
    assert [name for name, _ in numbers] == ["flops", "code", "peak"]
    assert all(float(number) > 1000 for _, number in numbers)


def test_a_function_compiled_ahead_of_time():
    prints(
        "<CompiledForTopology <program f for v5e:2x2x1>> 33554432 (256, 256) True\n"
        "f was compiled for <v5e:2x2x1: 4 of TPU v5 lite> and cannot be called here\n"
        "f uses 1 arrays from outside: to be run in another process, it must have them as "
        "arguments\n"
        "no topology 'v5e': expected a kind of chip and how many there are each way, such as "
        "v5e:2x2x1\n"
        "a callback, refused",
        """
        import irax, irax.numpy as jnp, numpy as np

        def f(x):
            return x @ x

        def told(use, *errors):
            try:
                use()
            except errors as error:
                return str(error)

        x = jnp.ones((256, 256))
        program = irax.jit(f).lower(x).compile(topology="v5e:2x2x1")
        flops = int(program.cost_analysis()["flops"])
        memory = program.memory_analysis()
        assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 4 * 256**2
        assert program.serialize().startswith(b"// irax: ")
        print(program, flops, program.out_info.shape, program.as_text().startswith("HloModule"))
        print(told(lambda: program(x), RuntimeError))
        large = jnp.arange(1e5)

        def f(x):
            return x * large

        uses_more = irax.jit(f).lower(1.0).compile(topology="v5e:2x2x1")
        print(told(uses_more.serialize, ValueError))
        print(told(lambda: irax.jit(f).lower(1.0).compile(topology="v5e"), ValueError))
        calls = irax.jit(lambda x: irax.pure_callback(np.sin, x, x)).lower(1.0)
        refused = told(lambda: calls.compile(topology="v5e:2x2x1"), NotImplementedError)
        print(refused[:10] + ", refused")
        """,
    )


def test_chips_of_a_topology_are_devices_of_meshes():
    """A product divided over four chips, beside what one of them holds and computes alone."""
    prints(
        "tpu:1 TPU v5 lite tpu 4\n"
        "32768 32768 True P('x', None) P('x', 'y')\n"
        "65536 True\n"
        "tpu:3\n"
        "Chip('tpu', id=1, coords=(1,0,0)) of 'v5e:2x2x1' is not here: arrays cannot be put there\n"
        "f is a program of the chips [2, 3] of v5e:2x2x1: expected the first 2, in any order: its "
        "compiler takes no others\n"
        "f was compiled for <v5e:2x2x1: 4 of TPU v5 lite> and cannot be called here\n"
        "f was compiled for 'v5e:2x2x1' by its name: take devices from "
        "irax.experimental.topologies\n"
        "True True",
        """
        import copy, pickle
        import irax, irax.numpy as jnp
        from irax.experimental import topologies
        from irax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

        def f(x):
            return x @ x.T

        def told(use, *errors):
            try:
                use()
            except errors as error:
                return str(error)

        def lowered(sharding):
            x = irax.ShapeDtypeStruct((128, 128), "float32", sharding=sharding)
            return irax.jit(f).lower(x)

        four = topologies.get_topology_desc("v5e:2x2x1", "tpu")
        second = four.devices[1]
        print(second, second.device_kind, second.platform, second.client.device_count())
        mesh = topologies.make_mesh(four, (2, 2), ("x", "y"))
        program = lowered(NamedSharding(mesh, P("x", "y"))).compile()
        memory = program.memory_analysis()
        text = program.as_text()
        print(memory.argument_size_in_bytes, memory.output_size_in_bytes, "all-" in text,
              program.output_shardings.spec, program.input_shardings[0][0].spec)
        alone = lowered(SingleDeviceSharding(second)).compile()
        print(alone.memory_analysis().argument_size_in_bytes,
              alone.cost_analysis()["flops"] > 3 * program.cost_analysis()["flops"])
        again = topologies.TopologyDescription.deserialize(four.serialize())
        print(again.devices[3])
        print(told(lambda: jnp.ones(3, device=second), RuntimeError))
        half = Mesh(four.devices[2:], ("x",))
        print(told(lambda: lowered(NamedSharding(half, P("x"))).compile(), ValueError))
        print(told(lambda: program(jnp.ones((128, 128))), RuntimeError))
        named = lowered(None).compile(topology="v5e:2x2x1")
        print(told(lambda: named.output_shardings, ValueError))
        print(pickle.loads(pickle.dumps(second)) is second, again.devices == four.devices)
        """,
    )
