"""A compiler that is not irax's, which runs cases in a process of its own.

    python outside.py xla cases.pickle found.pickle 0
    python outside.py xla

It needs NumPy, ml_dtypes and the compiler. The cases are those from the number given on. Before
each it writes the number, and then what was found, so that the parent knows at which case a process
ended. Without files, cases come one by one on standard input, and results go to standard output.
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


def xla_by_operations() -> Callable[[str], Program]:
    """Likewise, each operation of @main as a program of its own."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    whole, known = xla(), {}

    def compiled(text: str) -> Program:
        with mlir.make_ir_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            functions = {str(f.attributes["sym_name"]): f for f in module.body.operations}
            main = functions.pop('"main"').regions[0].blocks[0]
            others = "".join(map(str, functions.values()))
            numbers = {argument: i for i, argument in enumerate(main.arguments)}
            steps: list[tuple[Program, list[int]]] = []
            *operations, last = main.operations
            for operation in operations:
                alone, taken = _alone(operation.operation, others)
                text = str(alone)
                program = known.get(text) or known.setdefault(text, whole(text))
                steps.append((program, [numbers[x] for x in taken]))
                for result in operation.results:
                    numbers[result] = len(numbers)
            returned = [numbers[x] for x in last.operands]

        def run(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
            values = list(operands)
            for program, taken in steps:
                values += program([values[i] for i in taken])
            return [np.asarray(values[i]) for i in returned]

        return run

    return compiled


def _alone(operation: Any, functions: str) -> tuple[Any, list[Any]]:
    """A module whose @main has one operation, and the values that it takes."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    taken: dict[Any, int] = {}
    inside: set[Any] = set()

    def visit(one: Any) -> None:
        for x in one.operands:
            if x not in inside:
                taken.setdefault(x, len(taken))
        for region in one.regions:
            for block in region.blocks:
                inside.update(block.arguments)
                for other in block.operations:
                    visit(other.operation)
        inside.update(one.results)

    visit(operation)
    module = ir.Module.parse(functions)
    types = [x.type for x in taken], [x.type for x in operation.results]
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", types, visibility="public")
    block = main.add_entry_block()

    def rename(one: Any) -> None:
        for i, x in enumerate(one.operands):
            if x in taken:
                one.operands[i] = block.arguments[taken[x]]
        for region in one.regions:
            for inner in region.blocks:
                for other in inner.operations:
                    rename(other.operation)

    with ir.InsertionPoint(block):
        clone = operation.clone()
        rename(clone.operation)
        func.ReturnOp(list(clone.operation.results))
    return module, list(taken)


def _copied(x: Any) -> np.ndarray:
    """An array that `to_host` of IREE 3.13.0 cannot read: Vulkan is to copy it to memory of NumPy,
    whose address Vulkan does not take.
    """
    from iree.runtime import BufferUsage, HalElementType, HalFence, MemoryType

    view, device = x._buffer_view, x._device
    source = view.get_buffer()
    there = device.allocator.allocate_buffer(
        memory_type=int(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length(),
    )
    semaphore = device.create_semaphore(0)
    before, after = HalFence.create_at(semaphore, 0), HalFence.create_at(semaphore, 1)
    device.queue_copy(source, there, wait_semaphores=before, signal_semaphores=after)
    after.wait()
    raw = there.map().asarray(view.shape, HalElementType.map_to_dtype(view.element_type))
    return np.array(raw, x.dtype)


def iree(target: str) -> Callable[[], Callable[[str], Program]]:
    """IREE's compiler as it is, for one of its targets on the host."""

    def prepare() -> Callable[[str], Program]:
        from iree import compiler, runtime

        config = runtime.Config("vulkan" if target == "vulkan-spirv" else "local-sync")
        on_host = _copied if target == "vulkan-spirv" else lambda x: np.asarray(x.to_host())

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
                return [on_host(x) for x in results]

            return run

        return compiled

    return prepare


COMPILERS: dict[str, Callable[[], Callable[[str], Program]]] = {
    "xla": xla,
    "xla-ops": xla_by_operations,
    "llvm-cpu": iree("llvm-cpu"),
    "vmvx": iree("vmvx"),
    "vulkan-spirv": iree("vulkan-spirv"),
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
            pickle.dump((number, _ran(compiled, text, operands)), file)
            file.flush()


def serve(name: str) -> None:
    """Run cases as they come."""
    compiled = COMPILERS[name]()
    while True:
        try:
            text, operands = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_ran(compiled, text, operands), sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _ran(compiled: Callable[[str], Program], text: str, operands: Sequence[np.ndarray]) -> Any:
    try:
        return compiled(text)(operands)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]


if __name__ == "__main__":
    name, *files = sys.argv[1:]
    main(name, *files) if files else serve(name)
