"""The target `iree-cpu`: IREE's llvm-cpu compiler, in this process."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Sequence
from typing import Any

from irax_compiler.targets import cache

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-type=stablehlo",
    # Without this, float64 silently becomes float32.
    "--iree-input-demote-f64-to-f32=false",
    "--iree-llvmcpu-stack-allocation-limit=1048576",
    # Reductions are vectorised only if their order may change, as XLA's may.
    "--iree-llvmcpu-reassociate-fp-reductions=true",
    "--iree-hal-executable-debug-level=0",
    "--iree-vm-bytecode-module-strip-source-map=true",
    "--iree-llvmcpu-debug-symbols=false",
)


class CompileError(RuntimeError):
    """IREE could not compile a module. The message has its diagnostics, with source locations."""


def compile(module: str | bytes, flags: Sequence[str] = ()) -> bytes:
    """Compiles a lowered module, MLIR text or bytecode, to a .vmfb for the processor of this host.

    Results are kept on disk (see `cache`).

    Raises:
        CompileError: IREE refuses the module; its diagnostics name operation and location.
    """
    data = module.encode() if isinstance(module, str) else module
    all_flags = (*FLAGS, *flags)
    key = cache.key(data, all_flags)
    artefact = cache.load(key)
    if artefact is None:
        artefact = _compile(data, (*all_flags, *_linker_flags()))
        cache.store(key, artefact)
    return artefact


def _compile(module: bytes, flags: Sequence[str]) -> bytes:
    from iree.compiler.api import Output, Session, Source

    session = Session()
    session.set_flags(*flags)
    invocation = session.invocation()
    messages: list[str] = []
    callback = _capture_diagnostics(invocation, messages)
    try:
        source = Source.wrap_buffer(session, _terminated(module))
        if not (invocation.parse_source(source) and invocation.execute()):
            raise CompileError(_summary(messages))
        output = Output.open_membuffer()
        try:
            invocation.output_vm_bytecode(output)
            return bytes(output.map_memory())
        finally:
            output.close()
    finally:
        invocation.close()
        session.close()
        del callback  # must live as long as the invocation


def _terminated(module: bytes) -> bytes:
    """Text ends with a zero byte for IREE's parser; bytecode knows its own length."""
    return module if module.startswith(b"ML\xefR") else module + b"\0"


def _capture_diagnostics(invocation: Any, messages: list[str]) -> Any:
    """Collects errors, instead of having them printed; the bindings have no call for it."""
    from iree.compiler.api import ctypes_dl

    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)

    @kind
    def callback(severity: int, text: int, size: int, user_data: int) -> None:
        messages.append(ctypes.string_at(text, size).decode(errors="replace"))

    enable = ctypes_dl._dylib.ireeCompilerInvocationEnableCallbackDiagnostics
    enable.restype = None
    enable.argtypes = [ctypes.c_void_p, ctypes.c_int, kind, ctypes.c_void_p]
    enable(invocation._inv_p, 0, callback, None)
    return callback


def _summary(messages: Sequence[str]) -> str:
    """The first line of each message: IREE appends whole modules to some."""
    lines = [line for line in (m.strip().split("\n")[0] for m in messages) if line]
    return "IREE could not compile the module:\n" + "\n".join(f"  {line}" for line in lines[:8])


@functools.cache
def _linker_flags() -> tuple[str, ...]:
    """Links as a shared library, against libm: the embedded linker has no sin of float64.

    The linker is the one that comes with IREE, so none need be installed.
    """
    from iree.compiler import api

    folder = os.path.join(os.path.dirname(api.__file__), os.pardir, "_mlir_libs")
    linker = os.path.realpath(os.path.join(folder, "iree-lld"))
    return (
        "--iree-llvmcpu-link-embedded=false",
        f"--iree-llvmcpu-system-linker-path={linker} -flavor gnu",
    )
