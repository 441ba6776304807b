"""A convolutional network reads handwritten digits.

Two layers look for small patterns everywhere in an image, with a few weights that all places share;
after each, the largest of every four neighbours is kept. A linear layer makes of that ten numbers,
one for each digit. Training is gradient descent with momentum, and images are moved about by a
pixel, so that the network doesn't learn them by heart.

After Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-Based Learning Applied to Document
Recognition (1998).

    python examples/conv_net.py --picture conv_net.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np
from sklearn.datasets import load_digits

import irax
import irax.numpy as jnp

CHANNELS, BATCH = (1, 16, 32), 48


def init(key):
    """Patterns of 3x3 pixels for two layers, and the weights of the last."""
    keys = irax.random.split(key, 3)
    pairs = zip(keys, CHANNELS, CHANNELS[1:], strict=False)
    return {
        "patterns": [
            irax.random.normal(k, (3, 3, n, m)) * np.float32((2 / (9 * n)) ** 0.5)
            for k, n, m in pairs
        ],
        "biases": [jnp.zeros(m) for m in CHANNELS[1:]],
        "out": irax.random.normal(keys[2], (2 * 2 * CHANNELS[-1], 10)) * np.float32(0.09),
    }


def predict(params, images):
    """The logits of images of shape (batch, 8, 8)."""
    x = images[..., None]
    for patterns, bias in zip(params["patterns"], params["biases"], strict=True):
        x = irax.lax.conv_general_dilated(
            x, patterns, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = irax.nn.relu(x + bias)
        x = irax.lax.reduce_window(x, -np.inf, irax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ params["out"]


def loss(params, images, labels):
    """The mean cross-entropy."""
    log_probabilities = irax.nn.log_softmax(predict(params, images))
    return -jnp.mean(jnp.take_along_axis(log_probabilities, labels[:, None], axis=1))


def moved(key, images):
    """Each image moved by up to one pixel."""

    def move(image, offset):
        return irax.lax.dynamic_slice(jnp.pad(image, 1), offset, image.shape)

    return irax.vmap(move)(images, irax.random.randint(key, (len(images), 2), 0, 3))


@irax.jit
def train_step(params, momentum, images, labels, key, rate):
    """A step of gradient descent with momentum."""
    value, gradients = irax.value_and_grad(loss)(params, moved(key, images), labels)
    momentum = irax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return irax.tree.map(lambda p, m: p - rate * m, params, momentum), momentum, value


classify = irax.jit(lambda params, images: jnp.argmax(predict(params, images), axis=1))


def load():
    """Training and test images in [0, 1] and labels, split 1,437 to 360."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype("float32").reshape(-1, 8, 8)
    labels = labels.astype("int32")
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[:1437], order[1437:]
    return images[train], labels[train], images[test], labels[test]


def train(epochs):
    """The trained network."""
    images, labels, _, _ = load()
    shuffle = np.random.default_rng(1)
    params, key = init(irax.random.key(0)), irax.random.key(1)
    momentum = irax.tree.map(jnp.zeros_like, params)
    for epoch in range(epochs):
        rate = np.float32(0.1 * (1 - epoch / epochs))
        order = shuffle.permutation(len(images))[: len(images) // BATCH * BATCH]
        for batch in order.reshape(-1, BATCH):
            key, now = irax.random.split(key)
            params, momentum, _ = train_step(
                params, momentum, images[batch], labels[batch], now, rate
            )
    return params


def step_and_arguments():
    """A training step, and an example of its arguments."""
    params = init(irax.random.key(0))
    momentum = irax.tree.map(jnp.zeros_like, params)
    images, labels = (x[:BATCH] for x in load()[:2])
    return train_step, (params, momentum, images, labels, irax.random.key(1), np.float32(0.05))


def draw(file, params, found):
    import matplotlib.pyplot as plt

    _, _, images, labels = load()
    figure, axes = plt.subplots(2, 12, figsize=(8, 2), layout="constrained")
    wrong = np.flatnonzero(found != labels)
    right = np.flatnonzero(found == labels)
    for row, chosen, title in zip(axes, (right, wrong), ("right", "wrong"), strict=True):
        for ax, index in zip(row, chosen, strict=False):
            ax.imshow(images[index], cmap="gray_r")
            ax.set_title(
                str(found[index]), fontsize="medium", color="C3" if title == "wrong" else "k"
            )
        row[0].set_ylabel(title)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[], frame_on=bool(ax.images))
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Trains, and prints the accuracy for images that were not trained on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    _, _, images, labels = load()
    params = train(6 if options.small else 40)
    found = np.asarray(classify(params, images))
    figures = {
        "accuracy before": float(np.mean(classify(init(irax.random.key(0)), images) == labels)),
        "accuracy after": float(np.mean(found == labels)),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    if options.picture:
        draw(options.picture, params, found)
    return figures


if __name__ == "__main__":
    main()
