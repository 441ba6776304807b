"""Batch normalization, against its formulas in NumPy and, for the gradient, finite differences."""

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, f64, of

from irax_compiler.ops.reductions.batch_norm import (
    BatchNormGrad,
    BatchNormInference,
    BatchNormTraining,
)

EPSILON = 2.0**-10  # exact in float32, which holds it


def others(x: np.ndarray, feature: int) -> tuple[int, ...]:
    return tuple(d for d in range(x.ndim) if d != feature)


def spread(v: np.ndarray, x: np.ndarray, feature: int) -> np.ndarray:
    return v.reshape([-1 if d == feature else 1 for d in range(x.ndim)])


def inference(feature: int):
    def reference(x, scale, offset, mean, variance):
        scale, offset, mean, variance = (
            spread(v, x, feature) for v in (scale, offset, mean, variance)
        )
        return (x - mean) / np.sqrt(variance + EPSILON) * scale + offset

    return reference


def training(feature: int):
    def reference(x, scale, offset):
        mean, variance = x.mean(others(x, feature)), x.var(others(x, feature))
        return inference(feature)(x, scale, offset, mean, variance), mean, variance

    return reference


def gradient(feature: int):
    """The derivative of sum(ct * y) by finite differences of the training step."""

    def reference(x, scale, mean, variance, ct):
        offset = np.zeros_like(scale)
        arguments = [x, scale, offset]
        found = []
        for number, array in enumerate(arguments):
            slope = np.empty(array.shape)
            for place in np.ndindex(*array.shape):
                values = []
                for step in (1e-5, -1e-5):
                    moved = [a.copy() for a in arguments]
                    moved[number][place] += step
                    values.append(np.sum(ct * training(feature)(*moved)[0]))
                slope[place] = (values[0] - values[1]) / 2e-5
            found.append(slope)
        return tuple(found)

    return reference


class Statistics(Case):
    """A case whose third and fourth operands are the mean and variance of the first."""

    def arrays(self, rng):
        x, scale, _, _, ct = super().arrays(rng)
        axes = others(x, self.subject.feature_index)
        return [x, scale, x.mean(axes), x.var(axes), ct]


THREE = [f64(3) for _ in range(4)]

CASES = [
    Case("inference", BatchNormInference(EPSILON, 2), [f64(4, 2, 3), *THREE[:3], f64(3, low=0.5)],
         inference(2)),
    Case("inference-first", BatchNormInference(EPSILON, 0),
         [f64(3, 4), *THREE[:3], f64(3, low=0.5)], inference(0)),
    Case("training", BatchNormTraining(EPSILON, 1), [f64(4, 3, 2), *THREE[:2]], training(1),
         derivative_tolerance=1e-5),
    Case("training-bf16", BatchNormTraining(EPSILON, 1),
         [of(ml_dtypes.bfloat16, 9, 3), *(of(ml_dtypes.bfloat16, 3) for _ in range(2))],
         training(1), tolerance=2e-2),
    Statistics("gradient", BatchNormGrad(EPSILON, 1), [f64(4, 3, 2), *THREE[:3], f64(4, 3, 2)],
               gradient(1), tolerance=1e-6, derivative_tolerance=1e-5),
]  # fmt: skip
