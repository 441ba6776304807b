"""Programs in forms that irax does not read, and how StableHLO is had instead."""

from __future__ import annotations

import re

_LOWERED = "the module was lowered beyond StableHLO: expected the module from before"
_TENSORFLOW = (
    "expected StableHLO: tf.function(f, jit_compile=True).experimental_get_compiler_ir(x)"
    '(stage="stablehlo") in TensorFlow'
)
_CURES = {
    "torch": 'expected StableHLO: export_and_import(..., output_type="stablehlo") of torch_mlir.fx',
    "tf": _TENSORFLOW,
    "tfl": _TENSORFLOW,
    "tf_executor": _TENSORFLOW,
    "tf_saved_model": _TENSORFLOW,
    "tf_type": _TENSORFLOW,
    "mhlo": "expected operations of StableHLO and CHLO in its place",
    "mpmd": "expected a program of one mesh",
    "sdy": "expected the module from before it was partitioned, with constraints of shardings",
    "onnx": "expected StableHLO: onnx-mlir-opt --convert-onnx-to-stablehlo of onnx-mlir",
    "tosa": "expected StableHLO, which tosa was made from or beside",
    **dict.fromkeys(
        [
            *("affine", "arith", "bufferization", "cf", "flow", "gpu", "hal", "linalg", "llvm"),
            *("math", "memref", "scf", "spirv", "stream", "tensor", "util", "vector", "vm"),
            *("iree_encoding", "iree_linalg_ext", "iree_tensor_ext"),
        ],
        _LOWERED,
    ),
}

_HLO = (
    "expected StableHLO: jax.jit(f).lower(x).as_text() in JAX, "
    'experimental_get_compiler_ir(x)(stage="stablehlo") in TensorFlow, '
    "torch_xla.stablehlo in torch_xla"
)
_UNKNOWN = re.compile(r"Dialect `\w+' not found for custom op '([\w.]+)'")
_PROTO = re.compile(rb"\n.[\w.\-<>() ]+\x12.[\w.\-<>() ]+\x1a", re.DOTALL)
"""A message of XLA's HloModuleProto: its name, the name of its entry, and a computation."""


def cure(name: str) -> str:
    """Return what to use instead of an operation or a type of another dialect; "" if it is not
    known.

    >>> cure("linalg.matmul")
    'the module was lowered beyond StableHLO: expected the module from before'
    """
    return _CURES.get(re.split(r"[.<]", name.lstrip("!"))[0], "")


def unknown_operation(message: str) -> str | None:
    """Return what to use instead of the operation that a parser's message says is of no dialect
    that it has; None for other messages.

    >>> unknown_operation("Dialect `mhlo' not found for custom op 'mhlo.topk'")
    'mhlo.topk is not supported; expected operations of StableHLO and CHLO in its place'
    """
    found = _UNKNOWN.search(message)
    told = cure(found[1]) if found else ""
    return f"{found[1]} is not supported; {told}" if found and told else None


def hlo_problem(data: bytes) -> str | None:
    """Return how StableHLO is had, for a program in XLA's own form; None for any other data."""
    if data.lstrip()[:10].startswith(b"HloModule"):
        return f"HLO text, XLA's own form; {_HLO}"
    if _PROTO.match(data[:600]) or _PROTO.search(data[:16]):
        return f"an HLO proto, XLA's own form; {_HLO}"
    return None
