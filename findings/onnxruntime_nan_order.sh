#!/usr/bin/env bash
# onnxruntime 1.32.0: a nan in ReduceMax, and in ScatterElements and ScatterND with reduction min.
#
# Guess: a nan goes through, as in ONNX's reference, or is passed over, in all of them.
# Seen: its place decides, and in opposite ways. ReduceMax and ReduceMin give nan only where the nan is
# the first element. Two updates of one place by reduction min or max give nan only where the nan is
# the last of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def run(op, x, *constants, **attributes):
    names = [f"c{i}" for i in range(len(constants))]
    node = helper.make_node(op, ["x", *names], ["y"], **attributes)
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, [1])],
        [numpy_helper.from_array(c, name) for c, name in zip(constants, names)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return float(session.run(None, {"x": x})[0][0])


print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
nan = float("nan")
found = {}
for elements in ((nan, 1), (1, nan)):
    updates = np.array(elements, np.float32)
    start = np.array([5], np.float32)
    axes = np.array([0])
    for op in ("ReduceMax", "ReduceMin"):
        found[op, elements] = run(op, updates, axes)
    for reduction in ("min", "max"):
        of_elements = np.array([0, 0]), updates
        found["ScatterElements", reduction, elements] = run(
            "ScatterElements", start, *of_elements, reduction=reduction
        )
        of_slices = np.array([[0], [0]]), updates
        found["ScatterND", reduction, elements] = run(
            "ScatterND", start, *of_slices, reduction=reduction
        )
for case, value in found.items():
    print(*case, "->", value)
    nan_at_the_end = np.isnan(case[-1][-1])
    assert np.isnan(value) == (nan_at_the_end == case[0].startswith("Scatter")), "changed"
PYTHON
