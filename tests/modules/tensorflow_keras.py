"""Write modules of TensorFlow's and Keras' functions: NAME.mlir, and NAME.npz with arguments and
what TensorFlow computes. It runs where tensorflow-cpu and keras are installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

RANDOM = np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.normal(size=shape).astype("f")


def repeated(x: Any, n: Any) -> Any:
    return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.sin(x)), [tf.constant(0), x])[
        1
    ]


def grown(x: Any) -> Any:
    return tf.while_loop(
        lambda i, x: tf.logical_and(i < 10, tf.reduce_sum(x) < 50.0),
        lambda i, x: (i + 1, x * 1.3),
        [tf.constant(0), x],
    )[1]


def layer(make: Callable[[], Any], *arrays: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    keras.utils.set_random_seed(0)
    made = make()
    made(*map(tf.constant, arrays))
    return lambda *given: made(*given), arrays


def network() -> Any:
    return keras.Sequential(
        [
            keras.layers.Conv2D(4, 3, padding="same"),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(2),
        ]
    )


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "while": (repeated, (draw(4), np.int32(5))),
    "while_and": (grown, (np.abs(draw(4)),)),
    "map": (lambda x: tf.map_fn(lambda r: tf.reduce_sum(r * r), x), (draw(5, 3),)),
    "scan": (lambda x: tf.scan(lambda a, r: a * 0.5 + r, x), (draw(5, 3),)),
    "top_k": (lambda x: tf.math.top_k(x, 3)[0], (draw(4, 9),)),
    "sort": (lambda x: tf.sort(x, axis=-1), (draw(4, 9),)),
    "qr": (lambda x: tf.linalg.qr(x)[1], (draw(5, 3),)),
    "eigh": (lambda x: tf.linalg.eigh(x + tf.transpose(x))[0], (draw(4, 4),)),
    "svd": (lambda x: tf.linalg.svd(x, compute_uv=False), (draw(4, 3),)),
    "solve": (lambda a, b: tf.linalg.solve(a, b), (draw(4, 4), draw(4, 2))),
    "inverse": (lambda a: tf.linalg.inv(a), (draw(4, 4),)),
    "cumsum": (lambda x: tf.cumsum(x, exclusive=True, reverse=True), (draw(7, 3),)),
    "segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, [0, 1, 0, 2], 3), (draw(4, 3),)),
    "gather_nd": (lambda x: tf.gather_nd(x, [[0, 1], [2, 0]]), (draw(3, 3),)),
    "cond": (
        lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x), lambda: tf.cos(x)),
        (draw(3),),
    ),
    "rfft": (lambda x: tf.abs(tf.signal.rfft(x)), (draw(3, 8),)),
    "conv2d": (lambda x, k: tf.nn.conv2d(x, k, 2, "SAME"), (draw(2, 8, 8, 3), draw(3, 3, 3, 4))),
    "max_pool": (lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), (draw(2, 7, 7, 3),)),
    "resize": (lambda x: tf.image.resize(x, [5, 9]), (draw(1, 4, 4, 2),)),
    "special": (lambda x: tf.math.lgamma(x) + tf.math.erf(x), (np.abs(draw(5)) + 0.5,)),
    "betainc": (
        lambda x: tf.math.betainc(x + 1, x + 2, tf.nn.sigmoid(x)),
        (np.abs(draw(5)),),
    ),
    "keras_lstm": layer(lambda: keras.layers.LSTM(5), draw(2, 7, 3)),
    "keras_gru": layer(lambda: keras.layers.GRU(5), draw(2, 7, 3)),
    "keras_attention": layer(
        lambda: keras.layers.MultiHeadAttention(2, 4), draw(2, 5, 8), draw(2, 5, 8)
    ),
    "keras_network": layer(network, draw(2, 8, 8, 3)),
}


def write(folder: Path, name: str) -> None:
    function, arrays = FUNCTIONS[name]
    compiled = tf.function(function, jit_compile=True, autograph=False)
    given = [tf.constant(x) for x in arrays]
    text = compiled.experimental_get_compiler_ir(*given)(stage="stablehlo")
    (folder / f"{name}.mlir").write_text(text)
    # Variables are arguments of the module, in the order in which the function captures them.
    concrete = compiled.get_concrete_function(*given)
    captured = [
        tf.raw_ops.ReadVariableOp(resource=x, dtype=v.dtype).numpy()
        for x in concrete.captured_inputs
        for v in concrete.variables
        if v.handle is x
    ]
    named = {f"argument{i}": x for i, x in enumerate([*arrays, *captured])}
    np.savez(folder / f"{name}.npz", result=np.asarray(compiled(*given)), **named)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for one in FUNCTIONS:
        write(target, one)
    (target / "versions.txt").write_text(f"TensorFlow {tf.__version__}, Keras {keras.__version__}")
