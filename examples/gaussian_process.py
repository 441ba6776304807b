"""Gaussian process regression, its hyperparameters by the gradient of the likelihood.

A Gaussian process is a belief about a function: a kernel says how much the values at two points
have to do with each other. Measurements make it a narrower belief, by a Cholesky factorization and
two triangular solves. How likely the measurements were is a function of the kernel's three numbers,
so its gradient finds them: nothing is left to choose by hand.

After C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006),
algorithm 2.1 and section 5.4.1.

    python examples/gaussian_process.py --picture gaussian_process.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

START = np.log([1.0, 1.0, 0.5]).astype("float32")  # length, amplitude and noise, as logarithms


def truth(x):
    """The function that is measured."""
    return np.sin(x) + 0.4 * np.sin(3 * x)


def measure(count):
    """Noisy values of the function, with a gap where nobody looked."""
    rng = np.random.default_rng(2)
    x = np.sort(np.concatenate([rng.uniform(0, 4, count // 2), rng.uniform(6, 10, count // 2)]))
    return x.astype("float32"), (truth(x) + rng.normal(0, 0.15, x.size)).astype("float32")


def kernel(a, b, length, amplitude):
    """The covariance of the function's values at all points of a with those at all points of b."""
    return amplitude**2 * jnp.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def factor(logarithms, x):
    """The Cholesky factor of the covariance of the measurements."""
    length, amplitude, noise = jnp.exp(logarithms)
    covariance = kernel(x, x, length, amplitude) + noise**2 * jnp.eye(x.size)
    return jnp.linalg.cholesky(covariance)


def surprise(logarithms, x, y):
    """Minus the logarithm of the probability density of the measurements."""
    lower = factor(logarithms, x)
    whitened = irax.scipy.linalg.solve_triangular(lower, y, lower=True)
    determinant = jnp.sum(jnp.log(jnp.diagonal(lower)))
    return 0.5 * whitened @ whitened + determinant + 0.5 * x.size * np.log(2 * np.pi)


@irax.jit
def fit(logarithms, x, y):
    """The hyperparameters under which the measurements are most likely, by BFGS."""
    return irax.scipy.optimize.minimize(surprise, logarithms, args=(x, y), method="BFGS", tol=1e-2)


@irax.jit
def predict(logarithms, x, y, at):
    """The mean and the standard deviation of the function at new points."""
    length, amplitude, _ = jnp.exp(logarithms)
    lower = factor(logarithms, x)
    between = irax.scipy.linalg.solve_triangular(
        lower, kernel(x, at, length, amplitude), lower=True
    )
    mean = between.T @ irax.scipy.linalg.solve_triangular(lower, y, lower=True)
    return mean, jnp.sqrt(amplitude**2 - jnp.sum(between**2, axis=0))


def step_and_arguments():
    """The function of one step of the fit, and an example of its arguments."""
    return irax.jit(irax.value_and_grad(surprise)), (START, *measure(40))


def draw(file, x, y, at, beliefs):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for ax, (title, (mean, deviation)) in zip(axes, beliefs.items(), strict=True):
        ax.fill_between(at, mean - 2 * deviation, mean + 2 * deviation, color="C0", alpha=0.2)
        ax.plot(at, mean, "C0", label="mean, and two standard deviations")
        ax.plot(at, truth(at), "k--", linewidth=1, label="the function")
        ax.plot(x, y, "C3.", markersize=4, label="measurements")
        ax.set(title=title, xlabel="x", xlim=(at[0], at[-1]), ylim=(-2.6, 3.6))
    axes[0].legend(loc="upper left", fontsize="small", frameon=False)
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Fits, and prints what was found and how good it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    x, y = measure(40 if options.small else 80)
    at = np.linspace(-0.5, 10.5, 45 if options.small else 300, dtype="float32")
    fitted = fit(START, x, y)
    mean, deviation = predict(fitted.x, x, y, at)
    error = np.abs(mean - truth(at))
    length, amplitude, noise = np.exp(fitted.x)
    figures = {
        "length": float(length),
        "amplitude": float(amplitude),
        "noise": float(noise),
        "surprise before": float(surprise(START, x, y)),
        "surprise after": float(fitted.fun),
        "error near data": float(np.sqrt(np.mean(error[(at > 0) & (at < 4)] ** 2))),
        "within two deviations": float(np.mean(error < 2 * deviation)),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.4f}")
    if options.picture:
        beliefs = {
            "before: length 1, amplitude 1, noise 0.5": predict(START, x, y, at),
            f"after: length {length:.2f}, amplitude {amplitude:.2f}, noise {noise:.2f}": (
                mean,
                deviation,
            ),
        }
        draw(options.picture, x, y, at, beliefs)
    return figures


if __name__ == "__main__":
    main()
