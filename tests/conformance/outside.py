"""A compiler that is not irax's, which runs cases in a process of its own.

    python outside.py xla cases.pickle found.pickle 0

It needs NumPy, ml_dtypes and the compiler. The cases are those from the number given on. Before
each it writes the number, and then what was found, so that the parent knows at which case a process
ended.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Program = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


def xla() -> Callable[[str], Program]:
    """The compiler of jaxlib's CPU plugin."""
    import jax
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    jax.config.update("jax_enable_x64", True)
    devices = jax.devices("cpu")
    client, options = devices[0].client, xla_client.CompileOptions()

    def compiled(text: str) -> Program:
        program = client.compile_and_load(text.encode(), DeviceList(tuple(devices)), options)

        def run(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
            return [np.asarray(x) for x in program.execute([jax.device_put(x) for x in operands])]

        return run

    return compiled


def iree(target: str) -> Callable[[], Callable[[str], Program]]:
    """IREE's compiler as it is, for one of its targets on the host."""

    def prepare() -> Callable[[str], Program]:
        from iree import compiler, runtime

        config = runtime.Config("local-sync")

        def compiled(text: str) -> Program:
            flags = ["--iree-input-demote-f64-to-f32=false"]
            if target == "llvm-cpu":
                flags.append("--iree-llvmcpu-target-cpu=host")
            data = compiler.compile_str(
                text, target_backends=[target], input_type="auto", extra_args=flags
            )
            context = runtime.SystemContext(config=config)
            module = runtime.VmModule.copy_buffer(context.instance, data)
            context.add_vm_module(module)
            main = getattr(context.modules, module.name)["main"]

            def run(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
                found = main(*operands)
                results = found if isinstance(found, (list, tuple)) else [found]
                return [np.asarray(x.to_host()) for x in results]

            return run

        return compiled

    return prepare


COMPILERS: dict[str, Callable[[], Callable[[str], Program]]] = {
    "xla": xla,
    "llvm-cpu": iree("llvm-cpu"),
    "vmvx": iree("vmvx"),
}


def main(name: str, given: str, written: str, start: str) -> None:
    """Run the cases of a file from a number on."""
    with open(given, "rb") as file:
        cases = pickle.load(file)
    compiled = COMPILERS[name]()
    with open(written, "ab") as file:
        for number in range(int(start), len(cases)):
            text, operands = cases[number]
            pickle.dump((number, None), file)
            file.flush()
            found: Any
            try:
                found = compiled(text)(operands)
            except Exception as error:
                found = f"{type(error).__name__}: {error}"[:300]
            pickle.dump((number, found), file)
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
