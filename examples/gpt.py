"""A small GPT learns to write digits backwards.

It's the model of the large ones: embeddings of tokens and of their places, and then blocks in which
every token looks back at those before (attention) and thinks about it (a network with one hidden
layer). It is trained to tell the next token, on a made task: some digits, a "=", and the digits
backwards. What the attention looks at shows how it does that.

After A. Vaswani et al., Attention Is All You Need (2017), and A. Radford et al., Language Models
are Unsupervised Multitask Learners (2019); Adam by D. P. Kingma and J. Ba (2014).

    python examples/gpt.py --picture gpt.png
"""

from __future__ import annotations

import argparse
import importlib.util
from dataclasses import dataclass

import numpy as np

import irax
import irax.numpy as jnp

EQUALS, TOKENS = 10, 11


@dataclass(frozen=True)
class Size:
    """The sizes of the model."""

    digits: int = 10
    width: int = 64
    heads: int = 4
    blocks: int = 2
    batch: int = 64
    steps: int = 400


SMALL = Size(digits=4, width=32, heads=2, blocks=1, batch=32, steps=250)


def init(key, size):
    """All weights: those of the blocks in a list."""
    keys = iter(irax.random.split(key, 3 + 4 * size.blocks))
    width = size.width

    def normal(*shape):
        return irax.random.normal(next(keys), shape) * np.float32(shape[0] ** -0.5)

    def block():
        return {
            "attention": normal(width, 3 * width),
            "mix": normal(width, width),
            "up": normal(width, 4 * width),
            "down": normal(4 * width, width),
            "scales": jnp.ones((2, width)),
        }

    return {
        "tokens": normal(TOKENS, width),
        "places": normal(2 * size.digits + 1, width),
        "blocks": [block() for _ in range(size.blocks)],
        "out": normal(width, TOKENS),
    }


def normalize(x, scale):
    """Mean 0 and variance 1 for each token (layer normalization)."""
    x = x - jnp.mean(x, axis=-1, keepdims=True)
    return scale * x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def attend(block, x, heads):
    """Causal attention: weighted values of the tokens up to each one, and the weights."""
    length, width = x.shape
    mixed = (x @ block["attention"]).reshape(length, 3, heads, width // heads)
    query, key, value = mixed[:, 0], mixed[:, 1], mixed[:, 2]
    scores = jnp.einsum("qhd,khd->hqk", query, key) / np.sqrt(width // heads).astype("float32")
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    looks = irax.nn.softmax(scores)
    gathered = jnp.einsum("hqk,khd->qhd", looks, value).reshape(length, width)
    return gathered @ block["mix"], looks


def predict(params, tokens, heads):
    """The logits of the next token after each one of a sequence, and what each block looked at."""
    x = params["tokens"][tokens] + params["places"][: tokens.shape[0]]
    all_looks = []
    for block in params["blocks"]:
        gathered, looks = attend(block, normalize(x, block["scales"][0]), heads)
        x = x + gathered
        hidden = irax.nn.gelu(normalize(x, block["scales"][1]) @ block["up"])
        x = x + hidden @ block["down"]
        all_looks.append(looks)
    return normalize(x, 1.0) @ params["out"], all_looks


def loss(params, sequences, heads):
    """The mean cross-entropy of the second half: the first one can't be told."""
    digits = sequences.shape[1] // 2
    logits = irax.vmap(lambda tokens: predict(params, tokens, heads)[0])(sequences[:, :-1])
    log_probabilities = irax.nn.log_softmax(logits[:, digits:])
    wanted = sequences[:, digits + 1 :, None]
    return -jnp.mean(jnp.take_along_axis(log_probabilities, wanted, axis=2))


@irax.jit(static_argnums=4)
def train_step(params, moments, count, sequences, heads):
    """A step of Adam."""
    value, gradients = irax.value_and_grad(loss)(params, sequences, heads)
    first = irax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = irax.tree.map(lambda m, g: 0.98 * m + 0.02 * g**2, moments[1], gradients)
    rate = 3e-3 * jnp.sqrt(1 - 0.98**count) / (1 - 0.9**count)
    params = irax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second
    )
    return params, (first, second), value


@irax.jit(static_argnums=(1, 2))
def backwards(params, heads, digits, questions):
    """Generate the model's answers to questions, one token after the other."""

    def write(place, sequences):
        logits = irax.vmap(lambda tokens: predict(params, tokens, heads)[0])(sequences)
        return sequences.at[:, place + 1].set(jnp.argmax(logits[:, place], axis=1))

    blank = jnp.zeros((questions.shape[0], 2 * digits + 1), "int32")
    sequences = blank.at[:, :digits].set(questions).at[:, digits].set(EQUALS)
    return irax.lax.fori_loop(digits, 2 * digits, write, sequences)[:, digits + 1 :]


def examples(rng, batch, digits):
    """Sequences of digits, "=", and the digits backwards."""
    x = rng.integers(0, 10, (batch, digits), dtype="int32")
    return np.concatenate([x, np.full((batch, 1), EQUALS, "int32"), x[:, ::-1]], axis=1)


def start(size):
    params = init(irax.random.key(0), size)
    zeros = irax.tree.map(jnp.zeros_like, params)
    return params, (zeros, zeros)


def small_loss(params, sequences):
    """The loss of a small model, for `irax show examples/gpt.py:small_loss`."""
    return loss(params, sequences, SMALL.heads)


def small_arguments():
    """Weights and sequences of a small model."""
    params, _ = start(SMALL)
    return params, examples(np.random.default_rng(0), SMALL.batch, SMALL.digits)


def step_and_arguments():
    """A training step, and an example of its arguments."""

    def step(params, moments, count, sequences):
        return train_step(params, moments, count, sequences, SMALL.heads)

    _, sequences = small_arguments()
    return step, (*start(SMALL), np.float32(1), sequences)


def draw(file, params, size, losses):
    import matplotlib.pyplot as plt

    tokens = examples(np.random.default_rng(5), 1, size.digits)[0]
    looks = np.mean(predict(params, tokens[:-1], size.heads)[1], axis=0)
    names = ["=" if token == EQUALS else str(token) for token in tokens]
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    axes[0].semilogy(losses, linewidth=1)
    axes[0].set(title="loss", xlabel="step")
    # The two heads that look back most sharply.
    for ax, look in zip(axes[1:], looks[np.argsort(-looks.max(axis=2).mean(axis=1))], strict=False):
        ax.imshow(look[size.digits :], cmap="Blues", vmin=0, vmax=1)
        ax.set(xlabel="looks at", ylabel="to write", title="a head of the attention")
        ax.set_xticks(range(len(names) - 1), names[:-1], fontsize="x-small")
        ax.set_yticks(range(size.digits), names[size.digits + 1 :], fontsize="x-small")
    figure.savefig(file, dpi=80)


def train(size):
    """The trained model, and the losses on the way."""
    rng = np.random.default_rng(0)
    (params, moments), losses = start(size), []
    for count in range(1, size.steps + 1):
        sequences = examples(rng, size.batch, size.digits)
        params, moments, value = train_step(
            params, moments, np.float32(count), sequences, size.heads
        )
        losses.append(value)
    return params, np.array(losses)


def main(arguments=None):
    """Trains, and prints how many digits and sequences come out right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    size = SMALL if options.small else Size()
    params, losses = train(size)
    questions = np.random.default_rng(1).integers(0, 10, (200, size.digits), dtype="int32")
    right = np.asarray(backwards(params, size.heads, size.digits, questions)) == questions[:, ::-1]
    figures = {
        "first loss": float(losses[0]),
        "last loss": float(losses[-1]),
        "digits right": float(right.mean()),
        "sequences right": float(right.all(axis=1).mean()),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    if options.picture:
        draw(options.picture, params, size, losses)
    return figures


if __name__ == "__main__":
    main()
