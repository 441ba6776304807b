"""A Kalman filter that learns how noisy the world and its sensors are.

Something moves through the plane, and its position is measured with errors. The filter keeps a
normal distribution of where it is and how fast it goes: a scan over the measurements predicts and
corrects, and another one, backwards, corrects by what came later. On its way the filter finds how
likely the measurements were, and the gradient and the Hessian of that, through the scan, give the
two strengths of noise by Newton's method, with their standard errors.

After R. E. Kalman, A New Approach to Linear Filtering and Prediction Problems (1960); H. E. Rauch,
F. Tung and C. T. Striebel, Maximum Likelihood Estimates of Linear Dynamic Systems (1965).

    python examples/kalman_filter.py --picture kalman_filter.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

# A state is (x, y, velocity of x, velocity of y), and time goes on by one.
MOTION = np.block([[np.eye(2), np.eye(2)], [np.zeros((2, 2)), np.eye(2)]]).astype("float32")
SEEN = np.eye(2, 4, dtype="float32")
SHAKEN = np.kron([[1 / 3, 1 / 2], [1 / 2, 1]], np.eye(2)).astype("float32")  # by white noise
MEAN, COVARIANCE = np.zeros(4, "float32"), np.diag([1, 1, 0.1, 0.1]).astype("float32")
TRUTH = np.log([0.05, 0.6]).astype("float32")  # standard deviations of acceleration and sensor
START = np.log([0.15, 0.3]).astype("float32")


def simulate(count):
    """The true states, and the measurements."""
    rng = np.random.default_rng(4)
    acceleration, sensor = np.exp(TRUTH)
    state, states = rng.multivariate_normal(MEAN, COVARIANCE), []
    for _ in range(count):
        state = MOTION @ state + acceleration * np.linalg.cholesky(SHAKEN) @ rng.normal(size=4)
        states.append(state)
    seen = np.array(states) @ SEEN.T + sensor * rng.normal(size=(count, 2))
    return np.array(states), seen.astype("float32")


def filtered(logarithms, seen):
    """The log-likelihood, and each state's distribution before and after its measurement."""
    acceleration, sensor = jnp.exp(logarithms)

    def step(carry, measurement):
        mean, covariance, likelihood = carry
        mean = MOTION @ mean
        covariance = MOTION @ covariance @ MOTION.T + acceleration**2 * SHAKEN
        before = mean, covariance

        surprise = measurement - SEEN @ mean
        spread = SEEN @ covariance @ SEEN.T + sensor**2 * jnp.eye(2)
        lower = jnp.linalg.cholesky(spread)  # in its units, surprises are independent
        whitened = irax.scipy.linalg.solve_triangular(
            lower, jnp.column_stack([SEEN @ covariance, surprise]), lower=True
        )
        gain, surprise = whitened[:, :4].T, whitened[:, 4]
        mean = mean + gain @ surprise
        covariance = covariance - gain @ gain.T
        determinant = jnp.sum(jnp.log(jnp.diagonal(lower)))
        likelihood -= surprise @ surprise / 2 + determinant + np.log(2 * np.pi)
        return (mean, covariance, likelihood), (*before, mean, covariance)

    (_, _, likelihood), states = irax.lax.scan(step, (MEAN, COVARIANCE, 0.0), seen)
    return likelihood, states


@irax.jit
def smoothed(logarithms, seen):
    """The log-likelihood, and each state's mean and covariance given all measurements."""
    likelihood, (means_before, covariances_before, means, covariances) = filtered(logarithms, seen)

    def step(later, now):
        mean, covariance, mean_before, covariance_before = now
        later_mean, later_covariance = later
        gain = jnp.linalg.solve(covariance_before, MOTION @ covariance).T
        mean = mean + gain @ (later_mean - mean_before)
        covariance = covariance + gain @ (later_covariance - covariance_before) @ gain.T
        return (mean, covariance), (mean, covariance)

    # What was predicted for a time belongs to the state before it.
    now = means[:-1], covariances[:-1], means_before[1:], covariances_before[1:]
    last = means[-1], covariances[-1]
    _, states = irax.lax.scan(step, last, now, reverse=True)
    return likelihood, tuple(
        jnp.concatenate([a, b[None]]) for a, b in zip(states, last, strict=True)
    )


@irax.jit
def slopes(logarithms, seen):
    """The gradient and the Hessian of minus the log-likelihood."""

    def gradient(logarithms):
        found = irax.grad(lambda logarithms: -filtered(logarithms, seen)[0])(logarithms)
        return found, found

    hessian, found = irax.jacfwd(gradient, has_aux=True)(logarithms)
    return found, hessian


def learn(logarithms, seen):
    """The noises under which the measurements are most likely, and their standard errors."""
    for _ in range(15):
        gradient, hessian = slopes(logarithms, seen)
        curvatures, directions = np.linalg.eigh(hessian)
        # Newton's method goes uphill where the curvature is negative, and may go too far.
        step = directions @ (directions.T @ gradient / np.abs(curvatures))
        logarithms = logarithms - np.clip(step, -0.5, 0.5)
    _, hessian = slopes(logarithms, seen)
    return logarithms, np.sqrt(np.diagonal(np.linalg.inv(hessian)))


def step_and_arguments():
    """The function of one step of the fit, and an example of its arguments."""
    return slopes, (START, simulate(40)[1])


def draw(file, states, seen, mean, covariance):
    import matplotlib.pyplot as plt

    states, seen, mean, covariance = (x[:60] for x in (states, seen, mean, covariance))
    figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    ax.plot(*states[:, :2].T, "k", linewidth=1, label="true path")
    ax.plot(*seen.T, "C3.", markersize=3, alpha=0.6, label="measurements")
    ax.plot(*mean[:, :2].T, "C0", label="smoothed")
    angle = np.linspace(0, 2 * np.pi, 40)
    for centre, spread in list(zip(mean[:, :2], covariance[:, :2, :2], strict=True))[::5]:
        circle = 2 * np.linalg.cholesky(spread) @ [np.cos(angle), np.sin(angle)]
        ax.fill(*(centre[:, None] + circle), color="C0", alpha=0.2, linewidth=0)
    ax.set(xlabel="x", ylabel="y", title="ellipses: two standard deviations")
    ax.legend(frameon=False)
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Learns the noises and smooths the path, and prints how good both are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    states, seen = simulate(40 if options.small else 400)
    logarithms, errors = learn(START, seen)
    likelihood, (mean, covariance) = smoothed(logarithms, seen)

    def error(positions):
        return float(np.sqrt(np.mean((positions - states[:, :2]) ** 2)))

    figures = {
        "noise of acceleration": float(np.exp(logarithms[0])),
        "noise of sensor": float(np.exp(logarithms[1])),
        "standard errors off": float(np.max(np.abs(logarithms - TRUTH) / errors)),
        "log-likelihood": float(likelihood),
        "error of measurements": error(seen),
        "error of smoothed path": error(mean[:, :2]),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    if options.picture:
        draw(options.picture, states, seen, np.asarray(mean), np.asarray(covariance))
    return figures


if __name__ == "__main__":
    main()
