"""The programs that are measured, each written once for a NumPy-like module and its library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.loops import LOOPS
from benchmarks.program import Program, array


def _selu(lib: Any, jnp: Any) -> Callable[..., Any]:
    return lambda x: 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)


def _chain(lib: Any, jnp: Any) -> Callable[..., Any]:
    return lambda x: jnp.log(1.5 + jnp.sin(jnp.tanh(x)))


def _softmax(lib: Any, jnp: Any) -> Callable[..., Any]:
    return lambda x: lib.nn.softmax(x, axis=-1)


def _sum(axis: Any) -> Callable[[Any, Any], Callable[..., Any]]:
    return lambda lib, jnp: lambda x: jnp.sum(x, axis=axis)


def _matmul(lib: Any, jnp: Any) -> Callable[..., Any]:
    return lambda x, y: jnp.dot(x, y)


def _digits_step(lib: Any, jnp: Any) -> Callable[..., Any]:
    def loss(params: Any, images: Any, labels: Any) -> Any:
        hidden = lib.nn.relu(images @ params[0]["w"] + params[0]["b"])
        logits = hidden @ params[1]["w"] + params[1]["b"]
        chosen = lib.nn.log_softmax(logits) * lib.nn.one_hot(labels, 10)
        return -jnp.mean(jnp.sum(chosen, axis=1))

    def step(params: Any, images: Any, labels: Any) -> Any:
        value, grads = lib.value_and_grad(loss)(params, images, labels)
        return lib.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads), value

    return step


def _digits_arguments(batch: int) -> tuple[Any, ...]:
    params = [
        {"w": array(n, m) / 8, "b": np.zeros(m, np.float32)} for n, m in ((64, 128), (128, 10))
    ]
    labels = (np.arange(batch) % 10).astype(np.int32)
    return params, array(batch, 64), labels


def _cnn(lib: Any, jnp: Any) -> Callable[..., Any]:
    """Two convolutions with strides and a dense layer, for images [batch, rows, columns, 1]."""
    numbers = ("NHWC", "HWIO", "NHWC")

    def logits(params: Any, images: Any) -> Any:
        x = images
        for kernel in params["kernels"]:
            x = lib.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=numbers)
            x = lib.nn.relu(x)
        return x.reshape(x.shape[0], -1) @ params["dense"]

    return logits


def _cnn_step(lib: Any, jnp: Any) -> Callable[..., Any]:
    logits = _cnn(lib, jnp)

    def loss(params: Any, images: Any, labels: Any) -> Any:
        chosen = lib.nn.log_softmax(logits(params, images)) * lib.nn.one_hot(labels, 10)
        return -jnp.mean(jnp.sum(chosen, axis=1))

    def step(params: Any, images: Any, labels: Any) -> Any:
        grads = lib.grad(loss)(params, images, labels)
        return lib.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)

    return step


def _cnn_arguments(batch: int) -> tuple[Any, ...]:
    params = {
        "kernels": [array(3, 3, 1, 16) / 3, array(3, 3, 16, 32, seed=1) / 12],
        "dense": array(7 * 7 * 32, 10, seed=2) / 40,
    }
    return params, array(batch, 28, 28, 1, seed=3)


def _conv(*numbers: str) -> Callable[[Any, Any], Callable[..., Any]]:
    return lambda lib, jnp: (
        lambda x, kernel: lib.lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=numbers
        )
    )


PROGRAMS = [
    Program("add 16", lambda lib, jnp: lambda x: x + 1.0, (array(16),)),
    Program("selu 1e6", _selu, (array(1_000_000),)),
    Program("tanh sin log 1e6", _chain, (array(1_000_000),)),
    Program("softmax 1024x1024", _softmax, (array(1024, 1024),)),
    Program("sum all 1e6", _sum(None), (array(1000, 1000),)),
    Program("sum rows 1e6", _sum(1), (array(1000, 1000),)),
    Program("max columns 1e6", lambda lib, jnp: lambda x: jnp.max(x, 0), (array(1000, 1000),)),
    Program("matmul 64", _matmul, (array(64, 64), array(64, 64, seed=1))),
    Program("matmul 512", _matmul, (array(512, 512), array(512, 512, seed=1))),
    Program("matmul 1024", _matmul, (array(1024, 1024), array(1024, 1024, seed=1))),
    Program("digits step, batch 32", _digits_step, _digits_arguments(32)),
    Program("digits step, batch 512", _digits_step, _digits_arguments(512)),
    Program(
        "conv NHWC 8x56x56x64",
        _conv("NHWC", "HWIO", "NHWC"),
        (array(8, 56, 56, 64), array(3, 3, 64, 64, seed=1)),
    ),
    Program(
        "conv NCHW 8x64x56x56",
        _conv("NCHW", "OIHW", "NCHW"),
        (array(8, 64, 56, 56), array(64, 64, 3, 3, seed=1)),
    ),
    Program("CNN, batch 64", _cnn, _cnn_arguments(64)),
    Program(
        "CNN step, batch 64",
        _cnn_step,
        (*_cnn_arguments(64), (np.arange(64) % 10).astype(np.int32)),
    ),
    *LOOPS,
]
