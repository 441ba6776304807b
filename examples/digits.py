"""Train a small network on real handwritten digits: the main job of irax, from end to end.

The data are the 1,797 images of 8x8 pixels that come with scikit-learn.

    python examples/digits.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rich.progress import track
from sklearn.datasets import load_digits

import irax
import irax.numpy as jnp

LAYERS = (64, 128, 10)


def init(key, sizes=LAYERS):
    """Weights drawn with the scale that keeps the variance of a layer with relu (He et al.)."""
    keys = irax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": irax.random.normal(k, (n, m)) * np.sqrt(2 / n).astype("float32"),
            "b": jnp.zeros(m),
        }
        for k, n, m in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def predict(params, images):
    """The logits of a batch of images."""
    x = images
    for layer in params[:-1]:
        x = irax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss(params, images, labels):
    """The mean cross-entropy."""
    log_probabilities = irax.nn.log_softmax(predict(params, images))
    return -jnp.mean(jnp.sum(log_probabilities * irax.nn.one_hot(labels, 10), axis=1))


@irax.jit
def train_step(params, images, labels, rate):
    """One step of gradient descent."""
    value, grads = irax.value_and_grad(loss)(params, images, labels)
    return irax.tree.map(lambda p, g: p - rate * g, params, grads), value


@irax.jit
def accuracy(params, images, labels):
    """The share of images whose largest logit is that of their label."""
    return jnp.mean(jnp.argmax(predict(params, images), axis=1) == labels)


def load():
    """Training and test images in [0, 1] and labels, split 1,437 to 360."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype("float32")
    labels = labels.astype("int32")
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[:1437], order[1437:]
    return images[train], labels[train], images[test], labels[test]


def step_and_arguments():
    """A training step, and an example of its arguments."""
    images, labels = (x[:32] for x in load()[:2])
    return train_step, (init(irax.random.PRNGKey(0)), images, labels, np.float32(0.1))


def write_stages(folder, params, images, labels):
    """Writes the training step's module as traced and after each pass; returns the file names."""
    from irax_compiler import mlir
    from irax_compiler.lowering import lower

    folder.mkdir(parents=True, exist_ok=True)
    ir = irax.make_ir(train_step)(params, images, labels, 0.1)
    stages = [("traced", str(ir))]
    lower(ir.module, ir.func, after=lambda name, module: stages.append((name, str(module))))
    files = []
    for number, (name, text) in enumerate(stages):
        short = "".join(c if c.isalnum() or c in "-_" else "." for c in name.split("{")[0])
        files.append(folder / f"{number:02d}-{short.strip('.')}.mlir")
        files[-1].write_text(text)
    assert mlir.parse_module(files[0].read_text())
    return files


def main():
    """Trains, and prints accuracies, the time per step, and where the IR was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--ir", type=Path, default=Path("build/digits-ir"))
    options = parser.parse_args()

    images, labels, test_images, test_labels = load()
    params = init(irax.random.PRNGKey(0))
    shuffle = np.random.default_rng(1)
    steps_per_epoch = len(images) // options.batch
    first = images[: options.batch], labels[: options.batch]

    start = time.perf_counter()
    _, value = train_step(params, *first, 0.1)
    value.block_until_ready()
    print(f"compiled the training step in {time.perf_counter() - start:.2f} s")

    times = []
    for _ in track(range(options.epochs), description="training"):
        order = shuffle.permutation(len(images))
        for step in range(steps_per_epoch):
            batch = order[step * options.batch : (step + 1) * options.batch]
            start = time.perf_counter()
            params, value = train_step(params, images[batch], labels[batch], 0.1)
            value.block_until_ready()
            times.append(time.perf_counter() - start)

    train = float(accuracy(params, images, labels))
    test = float(accuracy(params, test_images, test_labels))
    files = write_stages(options.ir, params, *first)
    print(f"last loss        {float(value):.4f}")
    print(f"train accuracy   {train:.4f}")
    print(f"test accuracy    {test:.4f}")
    print(f"time per step    {np.median(times) * 1e6:.0f} us (median of {len(times)})")
    print(f"IR of the step   {options.ir}/ ({files[0].name} ... {files[-1].name})")


if __name__ == "__main__":
    main()
