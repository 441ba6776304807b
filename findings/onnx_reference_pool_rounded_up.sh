#!/usr/bin/env bash
# onnx 1.23.2, reference evaluator: AveragePool and LpPool with ceil_mode = 1.
#
# Guess: the last window hangs over the end. Of 1 to 7, windows of three with stride three have the
# means 2, 5 and 7.
# Seen: 1.5, 4, 6: the means of 1 and 2, of 3 to 5, and of 5 to 7. The two elements that are missing
# at the end are divided between both sides, as padding of auto_pad is, so that no window is in its
# place. LpPool does the same; MaxPool, which takes another way, has 3, 6, 7, as it should.
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

x = np.arange(1, 8, dtype=np.float32).reshape(1, 1, 7)


def pooled(op, **attributes):
    attributes |= {"kernel_shape": [3], "strides": [3], "ceil_mode": 1}
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    kind = onnx.TensorProto.FLOAT
    arguments = [helper.make_tensor_value_info("x", kind, x.shape)]
    results = [helper.make_tensor_value_info("y", kind, [1, 1, 3])]
    graph = helper.make_graph([node], "g", arguments, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    onnx.checker.check_model(model, full_check=True)
    return ReferenceEvaluator(model).run(None, {"x": x})[0].ravel()


print("onnx", onnx.__version__)
found = {
    "AveragePool": pooled("AveragePool"),
    "LpPool": pooled("LpPool", p=1),
    "MaxPool": pooled("MaxPool"),
}
for op, values in found.items():
    print(op, values.tolist())
assert found["MaxPool"].tolist() == [3, 6, 7], "changed"
assert np.allclose(found["AveragePool"], [1.5, 4, 6]), "changed"
assert np.allclose(found["LpPool"], [1 + 2, 3 + 4 + 5, 5 + 6 + 7]), "changed"
PYTHON
