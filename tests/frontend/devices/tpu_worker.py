"""Compiles steps of examples for a TPU, in a process that the compiler might end.

python -m tests.frontend.devices.tpu_worker TOPOLOGY EXAMPLE...
"""

import importlib.util
import sys
import time
from pathlib import Path

import irax

EXAMPLES = Path(__file__).parents[3] / "examples"


def compile_step(name: str, topology: str) -> dict[str, float]:
    """The compiler's costs of the function in which an example does most of its work."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function, arguments = module.step_and_arguments()
    jitted = function if hasattr(function, "lower") else irax.jit(function)
    program = jitted.lower(*arguments).compile(topology=topology)
    memory = program.memory_analysis()
    return {
        "flops": program.cost_analysis()["flops"],
        "code": memory.generated_code_size_in_bytes,
        "peak": memory.peak_memory_in_bytes,
    }


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(f"{name}:", end=" ", flush=True)
        start = time.perf_counter()
        told = compile_step(name, sys.argv[1])
        numbers = ", ".join(f"{key} {number:.4g}" for key, number in told.items())
        print(f"{numbers} ({time.perf_counter() - start:.1f} s)", flush=True)
