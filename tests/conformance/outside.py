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

import ml_dtypes
import numpy as np

Program = Callable[[Sequence[np.ndarray]], list[np.ndarray]]
NARROW: dict[str, Any] = {
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "ui2": ml_dtypes.uint2,
    "ui4": ml_dtypes.uint4,
    "bf16": ml_dtypes.bfloat16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
"""The element types that jaxlib's bindings of MLIR have no arrays of."""


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


def interpreter() -> Callable[[str], Program]:
    """StableHLO's reference interpreter, in jaxlib's bindings. These lack arrays of some types: so
    operands are constants of the program, and results of narrow and complex types are converted.
    """
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _stablehlo
    from jaxlib.mlir.passmanager import PassManager

    _stablehlo.register_stablehlo_passes()
    expansion = "builtin.module(func.func(chlo-legalize-to-stablehlo))"

    def compiled(text: str) -> Program:
        def run(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
            with mlir.make_ir_context(), ir.Location.unknown():
                types = _types(ir.Module.parse(text))
                module = ir.Module.parse(_without_operands(text, types, operands))
                PassManager.parse(expansion).run(module.operation)
                found = [np.array(x) for x in _stablehlo.eval_module(module, [])]
            results = []
            for type_ in types[1]:
                element = _element(type_)
                if element.startswith("complex"):
                    real, imaginary = found.pop(0), found.pop(0)
                    wide = real + 1j * np.zeros(1, imaginary.dtype)
                    wide.real, wide.imag = real, imaginary
                    results.append(wide.reshape(real.shape))
                else:
                    results.append(
                        found.pop(0).astype(NARROW[element]) if element in NARROW else found.pop(0)
                    )
            return results

        return run

    return compiled


def _types(module: Any) -> tuple[list[str], list[str]]:
    """The types of @main."""
    functions = {str(f.attributes["sym_name"]): f for f in module.body.operations}
    type_ = functions['"main"'].attributes["function_type"].value
    return [str(t) for t in type_.inputs], [str(t) for t in type_.results]


def _element(type_: str) -> str:
    return (
        type_[len("tensor<") : -1].rpartition("x")[2]
        if "complex" not in type_
        else ("complex" + type_.rpartition("complex")[2][:-1])
    )


def _without_operands(
    text: str, types: tuple[list[str], list[str]], operands: Sequence[np.ndarray]
) -> str:
    """A program whose @main has no operands, and calls the other."""
    given, returned = types
    lines = [
        f"%a{i} = stablehlo.constant {_dense(x, t)} : {t}"
        for i, (x, t) in enumerate(zip(operands, given, strict=True))
    ]
    count = len(returned)
    named = ", ".join(f"%a{i}" for i in range(len(given)))
    results = f"%r:{count}" if count else ""
    lines.append(
        f"{results} = call @given({named}) : ({', '.join(given)}) -> ({', '.join(returned)})"
    )
    values: list[tuple[str, str]] = []
    for i, type_ in enumerate(returned):
        element = _element(type_)
        if element.startswith("complex"):
            part = type_.replace(element, element[len("complex<") : -1])
            for op in ("real", "imag"):
                lines.append(f"%{op}{i} = stablehlo.{op} %r#{i} : ({type_}) -> {part}")
                values.append((f"%{op}{i}", part))
        elif element in NARROW:
            wide = type_[: -len(element) - 1] + _wider(element) + ">"
            lines.append(f"%w{i} = stablehlo.convert %r#{i} : ({type_}) -> {wide}")
            values.append((f"%w{i}", wide))
        else:
            values.append((f"%r#{i}", type_))
    names, kinds = ", ".join(v for v, _ in values), ", ".join(t for _, t in values)
    body = "\n".join([*lines, f"return {names} : {kinds}"])
    inner = text.replace("func.func public @main(", "func.func private @given(", 1)
    return f"{inner}\nfunc.func public @main() -> ({kinds}) {{\n{body}\n}}\n"


def _wider(element: str) -> str:
    return {"i": "i8", "u": "ui8"}.get(element[0], "f32")


def _dense(x: np.ndarray, type_: str) -> str:
    """The elements of an array as MLIR reads them: their bytes."""
    if x.size == 0:
        return "dense<>"
    element, bits = _element(type_), np.ascontiguousarray(x)
    if element in ("i2", "i4", "ui2", "ui4"):
        bits = x.astype(np.int8) & np.int8((1 << int(element[-1])) - 1)
    return f'dense<"0x{bits.tobytes().hex()}">'


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
    "interpreter": interpreter,
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
