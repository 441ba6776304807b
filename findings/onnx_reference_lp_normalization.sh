#!/usr/bin/env bash
# onnx 1.23.2, reference evaluator: LpNormalization with p = 1.
#
# Guess: each row is divided by the sum of its magnitudes: (3, -4) becomes (3/7, -4/7).
# Seen: it is divided by the sum of its elements. (3, -4) becomes (-3, 4), (-1, -3) becomes
# (0.25, 0.75), and rows without a negative element are right. With p = 2 all are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq onnx==1.23.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

x = np.array([[3, -4], [-1, -3], [1, 3]], np.float32)


def normalized(p):
    node = helper.make_node("LpNormalization", ["x"], ["y"], axis=1, p=p)
    kind = onnx.TensorProto.FLOAT
    arguments = [helper.make_tensor_value_info("x", kind, x.shape)]
    results = [helper.make_tensor_value_info("y", kind, x.shape)]
    graph = helper.make_graph([node], "g", arguments, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    onnx.checker.check_model(model, full_check=True)
    return ReferenceEvaluator(model).run(None, {"x": x})[0]


print("onnx", onnx.__version__)
for p in (1, 2):
    right = x / np.linalg.norm(x, p, axis=1, keepdims=True)
    print(f"p = {p}: {normalized(p).tolist()}, expected {right.tolist()}")
assert np.allclose(normalized(2), x / np.linalg.norm(x, 2, axis=1, keepdims=True)), "changed"
assert np.allclose(normalized(1), [[-3, 4], [0.25, 0.75], [0.25, 0.75]]), "changed"
PYTHON
