"""Training steps of networks, and their predictions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from benchmarks.families.attention import block, block_weights
from benchmarks.program import Numbers, Program, f32, i32, program, weights

Logits = Callable[[Any, Any], Any]
"""The function of parameters and inputs that a network is."""


def _step(
    network: Callable[[Any, Any], Logits], rate: float = 0.1, decay: float = 0.0
) -> Callable[[Any, Any], Any]:
    """A step of gradient descent on the cross-entropy of labels, with weight decay if there is
    any.
    """

    def make(lib: Any, jnp: Any) -> Any:
        logits = network(lib, jnp)

        def loss(params: Any, inputs: Any, labels: Any) -> Any:
            predicted = lib.nn.log_softmax(logits(params, inputs))
            chosen = predicted * lib.nn.one_hot(labels, predicted.shape[-1])
            return -jnp.mean(jnp.sum(chosen, -1))

        def step(params: Any, inputs: Any, labels: Any) -> Any:
            value, grads = lib.value_and_grad(loss)(params, inputs, labels)
            if decay:
                grads = lib.tree_util.tree_map(lambda p, g: g + decay * p, params, grads)
            return lib.tree_util.tree_map(lambda p, g: p - rate * g, params, grads), value

        return step

    return make


def _adam_step(network: Callable[[Any, Any], Logits]) -> Callable[[Any, Any], Any]:
    def make(lib: Any, jnp: Any) -> Any:
        logits = network(lib, jnp)

        def loss(params: Any, inputs: Any, labels: Any) -> Any:
            predicted = lib.nn.log_softmax(logits(params, inputs))
            return -jnp.mean(jnp.take_along_axis(predicted, labels[:, None], 1))

        def step(params: Any, means: Any, squares: Any, inputs: Any, labels: Any) -> Any:
            map_ = lib.tree_util.tree_map
            grads = lib.grad(loss)(params, inputs, labels)
            means = map_(lambda m, g: 0.9 * m + 0.1 * g, means, grads)
            squares = map_(lambda s, g: 0.999 * jnp.abs(s) + 0.001 * g * g, squares, grads)
            params = map_(
                lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-3), params, means, squares
            )
            return params, means, squares

        return step

    return make


def _mlp(lib: Any, jnp: Any) -> Logits:
    def logits(params: Any, x: Any) -> Any:
        for layer in params[:-1]:
            x = lib.nn.relu(x @ layer["w"] + layer["b"])
        return x @ params[-1]["w"] + params[-1]["b"]

    return logits


def _mlp_weights(*widths: int) -> list[dict[str, Numbers]]:
    return [{"w": weights(n, m), "b": f32(m, scale=0.1)} for n, m in pairwise(widths)]


def _cnn(lib: Any, jnp: Any) -> Logits:
    """Convolutions with strides and a dense layer, for images [batch, rows, columns, channels]."""
    numbers = ("NHWC", "HWIO", "NHWC")

    def logits(params: Any, x: Any) -> Any:
        for kernel in params["kernels"]:
            x = lib.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=numbers)
            x = lib.nn.relu(x)
        return x.reshape(x.shape[0], -1) @ params["dense"]

    return logits


CNN = {"kernels": [weights(3, 3, 1, 16), weights(3, 3, 16, 32)], "dense": weights(7 * 7 * 32, 10)}


def _resnet(lib: Any, jnp: Any) -> Logits:
    """Two residual blocks with batch norm, as a ResNet for CIFAR has them."""

    def convolve(x: Any, kernel: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        return lib.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)

    def normalized(x: Any) -> Any:
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        return (x - mean) * lib.lax.rsqrt(variance + 1e-5)

    def logits(params: Any, x: Any) -> Any:
        x = convolve(x, params["first"])
        for first, second in params["blocks"]:
            hidden = lib.nn.relu(normalized(convolve(x, first)))
            x = lib.nn.relu(x + normalized(convolve(hidden, second)))
        return jnp.mean(x, (1, 2)) @ params["dense"]

    return logits


RESNET = {
    "first": weights(3, 3, 3, 32),
    "blocks": [[weights(3, 3, 32, 32)] * 2] * 2,
    "dense": weights(32, 10),
}


def _transformer(layers: int) -> Callable[[Any, Any], Logits]:
    def make(lib: Any, jnp: Any) -> Logits:
        def logits(params: Any, tokens: Any) -> Any:
            x = params["tokens"][tokens] + params["positions"]
            for i in range(layers):
                x = block(lib, jnp, params["blocks"][i], x, 4)
            return x @ params["tokens"].T

        return logits

    return make


def _transformer_weights(layers: int, width: int) -> dict[str, Any]:
    return {
        "tokens": f32(512, width, scale=0.1),
        "positions": f32(128, width, scale=0.1),
        "blocks": [block_weights(width)] * layers,
    }


def _autoencoder_step(lib: Any, jnp: Any) -> Any:
    def loss(params: Any, x: Any) -> Any:
        code = jnp.tanh(x @ params[0])
        return jnp.mean((code @ params[0].T - x) ** 2)

    return lambda params, x: lib.value_and_grad(loss)(params, x)


def _per_example(lib: Any, jnp: Any) -> Any:
    """The norm of each example's gradient."""
    logits = _mlp(lib, jnp)

    def norm(params: Any, x: Any) -> Any:
        grads = lib.grad(lambda params: lib.nn.logsumexp(logits(params, x)))(params)
        return sum(jnp.sum(g * g) for g in lib.tree_util.tree_leaves(grads))

    return lib.vmap(norm, (None, 0))


DIGITS, IMAGES = _mlp_weights(64, 128, 10), _mlp_weights(784, 1024, 1024, 10)


def transformer_step(layers: int, width: int, rate: float = 0.1, decay: float = 0.0) -> Program:
    """A step of a transformer, on four sequences of 128 tokens."""
    name = f"transformer step {layers} x {width}"
    tokens = [i32(4, 128, below=512)] * 2
    step = _step(_transformer(layers), rate, decay)
    return program(name, step, _transformer_weights(layers, width), *tokens)


PROGRAMS = [
    program("digits step, batch 32", _step(_mlp), DIGITS, f32(32, 64), i32(32, below=10)),
    program("digits step, batch 512", _step(_mlp), DIGITS, f32(512, 64), i32(512, below=10)),
    program("MLP 784-1024-1024-10", _mlp, IMAGES, f32(128, 784)),
    program("MLP step", _step(_mlp), IMAGES, f32(128, 784), i32(128, below=10)),
    program(
        "MLP step with Adam", _adam_step(_mlp), *[IMAGES] * 3, f32(128, 784), i32(128, below=10)
    ),
    program(
        "MLP of 8 layers of 256, step",
        _step(_mlp),
        _mlp_weights(*[256] * 9),
        f32(64, 256),
        i32(64, below=10),
    ),
    program("per-example gradients", _per_example, DIGITS, f32(64, 64)),
    program("autoencoder gradient", _autoencoder_step, [weights(784, 64)], f32(256, 784)),
    program("CNN, batch 64", _cnn, CNN, f32(64, 28, 28, 1)),
    program("CNN step, batch 64", _step(_cnn), CNN, f32(64, 28, 28, 1), i32(64, below=10)),
    program("ResNet blocks 16x32x32x32", _resnet, RESNET, f32(16, 32, 32, 3)),
    program("ResNet step 8x32x32x32", _step(_resnet), RESNET, f32(8, 32, 32, 3), i32(8, below=10)),
    program(
        "transformer 2 x 128", _transformer(2), _transformer_weights(2, 128), i32(4, 128, below=512)
    ),
    transformer_step(2, 128),
]


def named(name: str) -> Program:
    """The program of a name."""
    return next(program for program in PROGRAMS if program.name == name)
