"""keras: a convolutional network, an LSTM and attention, trained with JAX as the backend."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras import layers


def train(model, x, y, **options):
    model.compile(**options)
    history = model.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0)
    return history.history["loss"]


def run():
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 10, 10, 1)).astype("float32")
    y = (x.mean((1, 2, 3)) > 0).astype("int32")
    images = keras.Sequential(
        [
            layers.Input((10, 10, 1)),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Dropout(0.1),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    losses = train(images, x, y, optimizer=keras.optimizers.Adam(1e-2), loss=loss)
    tokens = rng.integers(0, 20, (32, 12))
    words = keras.Sequential(
        [
            layers.Input((12,), dtype="int32"),
            layers.Embedding(20, 8),
            layers.LSTM(8),
            layers.Dense(1),
        ]
    )
    means = tokens.mean(1, keepdims=True).astype("float32")
    recurrent = train(words, tokens, means, optimizer="rmsprop", loss="mse")
    q = rng.normal(size=(2, 5, 16)).astype("float32")
    attention = layers.MultiHeadAttention(2, 8)(q, q, use_causal_mask=True)
    return {
        "losses": losses,
        "predictions": images.predict(x[:4], verbose=0),
        "recurrent": recurrent,
        "attention": np.asarray(attention).sum((0, 1)),
    }
