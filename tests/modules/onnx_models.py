"""Write modules of ONNX models, by torch-mlir's importer: NAME.mlir, and NAME.npz with arguments
and what ONNX's reference evaluator computes. It runs where onnx, torch-mlir and PyTorch are.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from torch_mlir import ir
from torch_mlir.compiler_utils import (
    OutputType,
    lower_mlir_module,
    run_pipeline_with_repro_report,
)
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer

RANDOM = np.random.default_rng(0)
PIPELINE = "builtin.module(torch-onnx-to-torch-backend-pipeline{backend-legal-ops=})"
node = helper.make_node
FLOATS, INTEGERS = TensorProto.FLOAT, TensorProto.INT64


def weight(name: str, *shape: int) -> Any:
    return numpy_helper.from_array(RANDOM.normal(size=shape).astype("f") / 2, name)


def model(
    nodes: list[Any],
    x: tuple[int, ...],
    y: tuple[int, ...],
    weights: list[Any],
    kind: int = FLOATS,
) -> Any:
    """Return the model of nodes that compute `y` from `x`, arrays of these shapes."""
    given = helper.make_tensor_value_info("x", kind, x)
    result = helper.make_tensor_value_info("y", FLOATS, y)
    graph = helper.make_graph(nodes, "main", [given], [result], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return onnx.shape_inference.infer_shapes(made, data_prop=True)


MODELS = {
    "mlp": model(
        [
            node("Gemm", ["x", "w", "b"], ["h"], transB=1),
            node("Relu", ["h"], ["r"]),
            node("MatMul", ["r", "v"], ["y"]),
        ],
        (3, 6),
        (3, 4),
        [weight("w", 8, 6), weight("b", 8), weight("v", 8, 4)],
    ),
    "conv": model(
        [
            node("Conv", ["x", "k", "b"], ["c"], pads=[1, 1, 1, 1]),
            node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"]),
            node("Relu", ["n"], ["r"]),
            node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            node("GlobalAveragePool", ["p"], ["g"]),
            node("Flatten", ["g"], ["y"]),
        ],
        (2, 3, 8, 8),
        (2, 5),
        [
            *(weight("k", 5, 3, 3, 3), weight("b", 5), weight("s", 5), weight("o", 5)),
            *(weight("m", 5), numpy_helper.from_array(np.full(5, 1.5, "f"), "v")),
        ],
    ),
    "attention": model(
        [
            node("MatMul", ["x", "q"], ["queries"]),
            node("MatMul", ["x", "k"], ["keys"]),
            node("Transpose", ["keys"], ["turned"], perm=[0, 2, 1]),
            node("MatMul", ["queries", "turned"], ["scores"]),
            node("Softmax", ["scores"], ["shares"], axis=-1),
            node("MatMul", ["shares", "x"], ["mixed"]),
            node("LayerNormalization", ["mixed", "g", "b"], ["y"], axis=-1),
        ],
        (2, 5, 6),
        (2, 5, 6),
        [weight("q", 6, 6), weight("k", 6, 6), weight("g", 6), weight("b", 6)],
    ),
    "elementwise": model(
        [
            node("Erf", ["x"], ["e"]),
            node("Tanh", ["e"], ["t"]),
            node("Sigmoid", ["x"], ["s"]),
            node("Mul", ["t", "s"], ["m"]),
            node("ReduceMean", ["m"], ["y"], axes=[1], keepdims=0),
        ],
        (3, 6),
        (3,),
        [],
    ),
    "gather": model(
        [node("Gather", ["table", "x"], ["y"])],
        (2, 3),
        (2, 3, 4),
        [weight("table", 9, 4)],
        INTEGERS,
    ),
}


def module_of(made: Any) -> str:
    """Return the text of a model as StableHLO."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(made)
    module = info.create_module(context=context).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    run_pipeline_with_repro_report(module, PIPELINE, "importing a model of ONNX")
    return str(lower_mlir_module(False, OutputType.STABLEHLO, module))


def drawn(about: Any) -> np.ndarray[Any, Any]:
    kind = about.type.tensor_type
    shape = [d.dim_value for d in kind.shape.dim]
    if kind.elem_type == INTEGERS:
        return RANDOM.integers(0, 9, shape)
    return RANDOM.normal(size=shape).astype("f")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, made in MODELS.items():
        (target / f"{name}.mlir").write_text(module_of(made))
        x = drawn(made.graph.input[0])
        (result,) = ReferenceEvaluator(made).run(None, {"x": x})
        np.savez(target / f"{name}.npz", result=result, argument0=x)
    (target / "versions.txt").write_text(f"ONNX {onnx.__version__}, by torch-mlir")
