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
