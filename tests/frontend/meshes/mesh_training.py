"""Training of two layers on a mesh, whose arrays may be divided in several ways."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax.core.array import ConcreteArray
from irax_runtime.mesh import MeshDevice

AXES = (("data", 2), ("model", 2))
WHOLE: tuple[str, ...] = ()
ROWS, COPIES = (("data",), WHOLE), (WHOLE, WHOLE)
SPECS = {
    "data": [COPIES, COPIES, ROWS, ROWS],
    "tensor": [(WHOLE, ("model",)), (("model",), WHOLE), ROWS, COPIES],
    "sharded": [ROWS, ROWS, ROWS, ROWS],
    "both": [(("data", "model"), WHOLE), COPIES, COPIES, (("model", "data"), WHOLE)],
}
"""The layouts of two layers' weights, the rows and the targets."""


def put(mesh: MeshDevice, x: Any, spec: Any) -> ConcreteArray:
    return ConcreteArray(None, buffer=mesh.put_shards(np.asarray(x), spec), committed=True)


def loss(weights: Any, x: Any, y: Any) -> Any:
    return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)


@irax.jit
def step(weights: Any, x: Any, y: Any) -> Any:
    value, slopes = irax.value_and_grad(loss)(weights, x, y)
    return value, irax.tree.map(lambda w, s: w - 0.1 * s, weights, slopes)


def arguments() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    shapes = ((8, 16), (16, 4), (8, 8), (8, 4))
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def train(weights: Any, x: Any, y: Any) -> tuple[list[float], Any]:
    losses = []
    for _ in range(3):
        value, weights = step(weights, x, y)
        losses.append(float(value))
    return losses, weights
