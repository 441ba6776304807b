#!/usr/bin/env bash
# onnxruntime 1.32.0: Unique of an array with a nan.
#
# Guess: each nan is a value of its own, or all of them are one.
# Seen: a nan is counted as whatever number it is compared with first. (1, nan) has one value, 1, two
# times; (nan, 1) has one value, nan, two times; of (2, nan, 3, nan) both nans count as 2. The values
# that are gathered by the inverse indices are then not the array. ONNX's own evaluator keeps nan apart.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator


def model(n):
    node = helper.make_node("Unique", ["x"], ["y", "", "inverse", "counts"])
    arguments = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [n])]
    results = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["m"])]
    for name, size in (("inverse", n), ("counts", "m")):
        results.append(helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [size]))
    graph = helper.make_graph([node], "g", arguments, results)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(whole, full_check=True)
    return whole


def runtime(x):
    session = onnxruntime.InferenceSession(
        model(len(x)).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})


print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
nan = float("nan")
expected = {
    (1, nan): ([1], [0, 0], [2]),
    (nan, 1): ([nan], [0, 0], [2]),
    (2, nan, 3, nan): ([2, 3], [0, 0, 1, 0], [3, 1]),
}
for elements, known in expected.items():
    x = np.array(elements, np.float32)
    found = runtime(x)
    print(elements, "->", *(part.tolist() for part in found))
    for part, right in zip(found, known):
        assert np.array_equal(part, right, equal_nan=part.dtype.kind == "f"), "changed"
    y, inverse, _ = ReferenceEvaluator(model(len(x))).run(None, {"x": x})
    assert np.array_equal(y[inverse], x, equal_nan=True), "changed: onnx's evaluator"
PYTHON
