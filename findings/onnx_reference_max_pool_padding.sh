#!/usr/bin/env bash
# onnx 1.23.2, reference evaluator: MaxPool of a signal of one dimension with pads.
#
# Guess: padding adds windows. Of 1, 2, 3, 4, windows of two with one place of padding at the end have
# the maxima 2, 3, 4, 4, a result of the four elements that shape inference names.
# Seen: padding at the end is not counted: 2, 3, 4. Padding at the beginning is an IndexError. Both
# need stride 1 and no dilation; without padding the maxima are right.
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

x = np.array([[[1, 2, 3, 4]]], np.float32)


def pooled(pads):
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2], pads=pads)
    kind = onnx.TensorProto.FLOAT
    arguments = [helper.make_tensor_value_info("x", kind, x.shape)]
    results = [helper.make_tensor_value_info("y", kind, [1, 1, 3 + sum(pads)])]
    graph = helper.make_graph([node], "g", arguments, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    onnx.checker.check_model(model, full_check=True)
    return ReferenceEvaluator(model).run(None, {"x": x})[0].ravel().tolist()


print("onnx", onnx.__version__)
for pads in ([0, 0], [0, 1]):
    print(f"pads {pads}:", pooled(pads))
    assert pooled(pads) == [2, 3, 4], "changed"
try:
    pooled([1, 0])
except IndexError as error:
    print("pads [1, 0]: IndexError,", error)
else:
    raise SystemExit("changed: pads [1, 0] is computed")
PYTHON
