"""A small GPT continues sequences of any length, and is compiled once.

Each new token looks back at all before it. What they are looked at by, their keys and values, is
kept in a cache, so a step computes those of the new token alone. The cache grows with every step.
`dynamic_shapes` says so: there is one program, for prompts and caches of all lengths, and another
one for training.

The sequences are rows of numbers in which the difference is always the same, modulo a prime. Which
one is next, the last two say. Places enter by how far back a token is: with the linear biases of
O. Press, N. A. Smith, M. Lewis, Train Short, Test Long (2022), the model goes on beyond the
lengths that it was trained with.

    python examples/gpt_cache.py
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

import irax
import irax.numpy as jnp

TOKENS = 7
HEADS = 4


@dataclass(frozen=True)
class Size:
    """The sizes of the model, and of its training."""

    width: int = 64
    blocks: int = 2
    batch: int = 64
    steps: int = 600


SMALL = Size(width=32, steps=300)


def init(key, size):
    """All weights: those of the blocks in a list."""
    keys = iter(irax.random.split(key, 2 + 4 * size.blocks))
    width = size.width

    def normal(*shape):
        return irax.random.normal(next(keys), shape) * np.float32(shape[0] ** -0.5)

    def block():
        return {
            "attention": normal(width, 3 * width),
            "mix": normal(width, width),
            "up": normal(width, 4 * width),
            "down": normal(4 * width, width),
        }

    blocks = [block() for _ in range(size.blocks)]
    return {"tokens": normal(TOKENS, width), "blocks": blocks, "out": normal(width, TOKENS)}


def empty_cache(size):
    """The keys and values of no tokens, for each block."""
    nothing = jnp.zeros((0, HEADS, size.width // HEADS))
    return [(nothing, nothing) for _ in range(size.blocks)]


def normalize(x):
    """Mean 0 and variance 1 for each token (layer normalization)."""
    x = x - jnp.mean(x, axis=-1, keepdims=True)
    return x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def attend(block, x, keys, values):
    """Weighted values of all tokens so far for each new one; their keys and values."""
    new, width = x.shape
    mixed = (x @ block["attention"]).reshape(new, 3, HEADS, width // HEADS)
    keys = jnp.concatenate([keys, mixed[:, 1]])
    values = jnp.concatenate([values, mixed[:, 2]])
    scores = jnp.einsum("qhd,khd->hqk", mixed[:, 0], keys) * np.float32((width // HEADS) ** -0.5)
    # How many tokens back each key is; what is to come is not looked at.
    back = keys.shape[0] - new + jnp.arange(new)[:, None] - jnp.arange(keys.shape[0])
    slopes = jnp.exp2(-jnp.arange(1.0, HEADS + 1))[:, None, None]
    looks = irax.nn.softmax(jnp.where(back >= 0, scores - slopes * back, -1e9))
    gathered = jnp.einsum("hqk,khd->qhd", looks, values).reshape(new, width)
    return gathered @ block["mix"], (keys, values)


def extend(params, cache, tokens):
    """The logits after each of some new tokens, and the cache with these."""
    x = params["tokens"][tokens]
    longer = []
    for block, (keys, values) in zip(params["blocks"], cache, strict=True):
        gathered, kept = attend(block, normalize(x), keys, values)
        x = x + gathered
        x = x + irax.nn.gelu(normalize(x) @ block["up"]) @ block["down"]
        longer.append(kept)
    return normalize(x) @ params["out"], longer


def loss(params, sequences):
    """The mean cross-entropy from the third token on: the first two cannot be told."""
    nothing = empty_cache(Size(params["out"].shape[0], len(params["blocks"])))
    logits = irax.vmap(lambda tokens: extend(params, nothing, tokens)[0])(sequences[:, :-1])
    log_probabilities = irax.nn.log_softmax(logits[:, 1:])
    wanted = irax.nn.one_hot(sequences[:, 2:], TOKENS)
    return -jnp.mean(jnp.sum(log_probabilities * wanted, axis=-1))


@irax.jit(dynamic_shapes={"sequences": ("batch", "length + 3")})
def train_step(params, moments, count, sequences):
    """A step of Adam, for sequences of any length."""
    value, gradients = irax.value_and_grad(loss)(params, sequences)
    first = irax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = irax.tree.map(lambda m, g: 0.98 * m + 0.02 * g**2, moments[1], gradients)
    rate = 3e-3 * jnp.sqrt(1 - 0.98**count) / (1 - 0.9**count)
    params = irax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second
    )
    return params, (first, second), value


# A size is at least 1, so one that may be 0, as that of the first cache, is written as n - 1.
@irax.jit(dynamic_shapes={"cache": "past - 1, ...", "tokens": "new"})
def next_token(params, cache, tokens):
    """The most probable token after some new ones, and the cache with these."""
    logits, cache = extend(params, cache, tokens)
    return jnp.argmax(logits[-1:], axis=-1).astype("int32"), cache


def generate(params, size, prompt, count):
    """Tokens that continue a prompt."""
    token, cache = next_token(params, empty_cache(size), prompt)
    found = [token]
    while len(found) < count:
        token, cache = next_token(params, cache, token)
        found.append(token)
    return np.concatenate(found)


def examples(rng, batch, length):
    """Sequences with one difference each."""
    first, difference = rng.integers(0, TOKENS, (2, batch, 1), dtype="int32")
    return (first + difference * np.arange(length, dtype="int32")) % np.int32(TOKENS)


def start(size):
    params = init(irax.random.key(0), size)
    zeros = irax.tree.map(jnp.zeros_like, params)
    return params, (zeros, zeros)


def step_and_arguments():
    """A training step, and an example of its arguments."""
    sequences = examples(np.random.default_rng(0), 8, 16)
    return train_step, (*start(SMALL), np.float32(1), sequences)


def train(size):
    """The trained model, and the losses on the way."""
    rng = np.random.default_rng(0)
    (params, moments), losses = start(size), []
    for count in range(1, size.steps + 1):
        sequences = examples(rng, size.batch, int(rng.integers(8, 33)))
        params, moments, value = train_step(params, moments, np.float32(count), sequences)
        losses.append(value)
    return params, np.array(losses)


def programs(function):
    """The number of programs that a jitted function has compiled for all sizes."""
    return sum(told.startswith("one program") for told in irax.explain(function).sizes)


def main(arguments=None):
    """Trains, continues prompts of several lengths, and prints how much of it is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    options = parser.parse_args(arguments)

    size = SMALL if options.small else Size()
    params, losses = train(size)
    right = []
    for number, length in enumerate((2, 3, 5, 9)):
        whole = examples(np.random.default_rng(number), 1, length + 100)[0]
        right.append(generate(params, size, whole[:length], 100) == whole[length:])
    figures = {
        "first loss": float(losses[0]),
        "last loss": float(losses[-1]),
        "tokens right": float(np.mean(right)),
        "programs of training": programs(train_step),
        "programs of generation": programs(next_token),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    return figures


if __name__ == "__main__":
    main()
