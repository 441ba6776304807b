"""A variational autoencoder: handwritten digits from two numbers each.

One network tells for an image where in the plane it belongs, and how sure it is of that; another
one draws an image for any point of the plane. Both are trained together, on a bound of the images'
log-likelihood: how well the second restores an image from a point near where the first put it, less
what the first says about that point beyond a standard normal distribution.

After D. P. Kingma and M. Welling, Auto-Encoding Variational Bayes (2013); Adagrad by J. Duchi,
E. Hazan and Y. Singer (2011).

    python examples/vae.py --picture vae.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np
from sklearn.datasets import load_digits

import irax
import irax.numpy as jnp

PIXELS, HIDDEN, LATENT, BATCH = 64, 256, 2, 64


def dense(key, inputs, outputs):
    weights = irax.random.normal(key, (inputs, outputs)) * np.sqrt(2 / inputs).astype("float32")
    return {"w": weights, "b": jnp.zeros(outputs)}


def init(key):
    """Two networks with one hidden layer each."""
    keys = irax.random.split(key, 4)
    return {
        "encoder": [dense(keys[0], PIXELS, HIDDEN), dense(keys[1], HIDDEN, 2 * LATENT)],
        "decoder": [dense(keys[2], LATENT, HIDDEN), dense(keys[3], HIDDEN, PIXELS)],
    }


def network(layers, x):
    first, second = layers
    return irax.nn.relu(x @ first["w"] + first["b"]) @ second["w"] + second["b"]


def encode(params, images):
    """The mean and the logarithm of the standard deviation of the points of images."""
    return jnp.split(network(params["encoder"], images), 2, axis=-1)


def decode(params, points):
    """The brightness of all pixels, as logits."""
    return network(params["decoder"], points)


def bound(params, images, key):
    """The mean lower bound of the images' log-likelihood, with one random point for each."""
    mean, logarithm = encode(params, images)
    points = mean + jnp.exp(logarithm) * irax.random.normal(key, mean.shape)
    logits = decode(params, points)
    restored = jnp.sum(images * logits - irax.nn.softplus(logits), axis=1)
    divergence = jnp.sum((mean**2 + jnp.exp(2 * logarithm) - 1) / 2 - logarithm, axis=1)
    return jnp.mean(restored - divergence)


@irax.jit
def train_step(params, squares, images, key):
    """A step of Adagrad: the more a weight has moved, the slower it gets."""
    value, gradients = irax.value_and_grad(bound)(params, images, key)
    squares = irax.tree.map(lambda s, g: s + g**2, squares, gradients)
    params = irax.tree.map(
        lambda p, g, s: p + 0.05 * g / (jnp.sqrt(s) + 1e-6), params, gradients, squares
    )
    return params, squares, value


def load():
    """Training and test images in [0, 1], and the labels of the test images."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype("float32")
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[:1437], order[1437:]
    return images[train], images[test], labels[test]


def step_and_arguments():
    """A training step, and an example of its arguments."""
    params = init(irax.random.key(0))
    squares = irax.tree.map(jnp.zeros_like, params)
    return train_step, (params, squares, load()[0][:BATCH], irax.random.key(1))


def train(epochs):
    """The trained networks."""
    images = load()[0]
    shuffle = np.random.default_rng(1)
    params = init(irax.random.key(0))
    squares, key = irax.tree.map(jnp.zeros_like, params), irax.random.key(1)
    for _ in range(epochs):
        order = shuffle.permutation(len(images))[: len(images) // BATCH * BATCH]
        for batch in order.reshape(-1, BATCH):
            key, now = irax.random.split(key)
            params, squares, _ = train_step(params, squares, images[batch], now)
    return params


def draw(file, params, images, labels):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    mean, _ = encode(params, images)
    scatter = left.scatter(*np.asarray(mean).T, c=labels, cmap="tab10", s=8)
    left.legend(*scatter.legend_elements(), fontsize="small", ncols=2, handletextpad=0)
    left.set(title="where the encoder puts digits")
    # Equally likely steps in both directions of the plane.
    number = 10
    steps = np.array(irax.scipy.stats.norm.ppf((np.arange(number) + 0.5) / number), "float32")
    points = np.stack(np.meshgrid(steps, steps[::-1]), axis=-1)
    tiles = np.asarray(irax.nn.sigmoid(decode(params, points))).reshape(number, number, 8, 8)
    tiles = np.pad(tiles, [(0, 0), (0, 0), (1, 1), (1, 1)])
    right.imshow(tiles.swapaxes(1, 2).reshape(10 * number, 10 * number), cmap="gray_r")
    right.set(title="what the decoder draws", xticks=[], yticks=[])
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Trains, and prints the bound for images that were not trained on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    images, test, labels = load()
    params = train(10 if options.small else 200)
    evaluate = irax.jit(bound)
    # Without points, the best there is are the means of the pixels.
    mean = np.clip(images.mean(axis=0), 1e-3, 1 - 1e-3)
    without = np.sum(test * np.log(mean) + (1 - test) * np.log(1 - mean), axis=1)
    figures = {
        "bound before": float(evaluate(init(irax.random.key(0)), test, irax.random.key(2))),
        "bound after": float(evaluate(params, test, irax.random.key(2))),
        "likelihood of means": float(without.mean()),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    if options.picture:
        draw(options.picture, params, test, labels)
    return figures


if __name__ == "__main__":
    main()
