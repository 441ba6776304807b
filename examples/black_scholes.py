"""The price of an option and its "greeks", which are derivatives of the price.

The price of a European call is a formula. A bank wants its derivatives as well, the first and the
second: grad and hessian give them all, and vmap those of a whole board of options. Textbooks have
each in closed form, to compare with. What volatility the market has in mind is found by Newton's
method, whose slope is a derivative too. And where there is no formula, derivatives go through a
simulation just as well.

After F. Black and M. Scholes, The Pricing of Options and Corporate Liabilities (1973), and
M. Giles and P. Glasserman, Smoking Adjoints: Fast Monte Carlo Greeks (2006).

    python examples/black_scholes.py --picture black_scholes.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

STRIKE = 100.0


def price(spot, volatility, time, rate):
    """The worth of the right to buy at the strike, at a time from now."""
    cdf = irax.scipy.stats.norm.cdf
    deviation = volatility * jnp.sqrt(time)
    d1 = (jnp.log(spot / STRIKE) + rate * time) / deviation + deviation / 2
    return spot * cdf(d1) - STRIKE * jnp.exp(-rate * time) * cdf(d1 - deviation)


def greeks(spot, volatility, time, rate):
    """The price and its derivatives, by their names."""
    at = spot, volatility, time, rate
    value, (delta, vega, decay, rho) = irax.value_and_grad(price, (0, 1, 2, 3))(*at)
    (gamma, vanna), (_, volga) = irax.hessian(price, (0, 1))(*at)
    return {
        "price": value,
        "delta": delta,
        "vega": vega,
        "theta": -decay,
        "rho": rho,
        "gamma": gamma,
        "vanna": vanna,
        "volga": volga,
    }


# Of options on a board: all of them at once, at one rate.
board = irax.jit(irax.vmap(greeks, (0, 0, 0, None)))


def in_closed_form(spot, volatility, time, rate):
    """The greeks in closed form from a textbook, in NumPy, without the price."""
    from scipy.stats import norm

    root = np.sqrt(time)
    d1 = (np.log(spot / STRIKE) + (rate + volatility**2 / 2) * time) / (volatility * root)
    d2 = d1 - volatility * root
    discounted = STRIKE * np.exp(-rate * time)
    vega = spot * norm.pdf(d1) * root
    return {
        "delta": norm.cdf(d1),
        "vega": vega,
        "theta": -spot * norm.pdf(d1) * volatility / (2 * root) - rate * discounted * norm.cdf(d2),
        "rho": time * discounted * norm.cdf(d2),
        "gamma": norm.pdf(d1) / (spot * volatility * root),
        "vanna": -norm.pdf(d1) * d2 / volatility,
        "volga": vega * d1 * d2 / volatility,
    }


@irax.jit
@irax.vmap
def implied_volatility(paid, spot, time, rate):
    """The volatility that explains a price, by Newton's method from where the slope is greatest."""
    start = jnp.sqrt(2 * jnp.abs(jnp.log(spot / STRIKE) + rate * time) / time) + 0.05

    def improve(_, volatility):
        value, slope = irax.value_and_grad(price, 1)(spot, volatility, time, rate)
        return volatility - (value - paid) / slope

    return irax.lax.fori_loop(0, 12, improve, start)


@irax.jit
def simulated(spot, volatility, time, rate, normals):
    """Price, delta and vega by simulation, and their standard errors."""

    def payoff(spot, volatility, normal):
        growth = (rate - volatility**2 / 2) * time + volatility * jnp.sqrt(time) * normal
        return jnp.exp(-rate * time) * jnp.maximum(spot * jnp.exp(growth) - STRIKE, 0)

    of_path = irax.vmap(irax.value_and_grad(payoff, (0, 1)), (None, None, 0))
    value, (delta, vega) = of_path(spot, volatility, normals)
    paths = jnp.stack([value, delta, vega])
    return jnp.mean(paths, axis=1), jnp.std(paths, axis=1) / np.sqrt(normals.size)


def options_on(number):
    """Spots, volatilities and times of a board of options, and the rate."""
    spot, time = np.meshgrid(np.linspace(60, 140, number), np.array([0.1, 0.5, 1.0, 2.0]))
    volatility = 0.15 + 0.1 * (np.log(spot / STRIKE) ** 2) + 0.05 * time
    return spot.ravel(), volatility.ravel(), time.ravel(), 0.03


def step_and_arguments():
    """The greeks of a board, and an example of their arguments."""
    *arrays, rate = options_on(8)
    return board, (*(x.astype("float32") for x in arrays), np.float32(rate))


def draw(file, spot, time, found):
    import matplotlib.pyplot as plt

    names = ("price", "delta", "gamma", "vega", "theta", "vanna")
    figure, axes = plt.subplots(2, 3, figsize=(8, 4), sharex=True, layout="constrained")
    for ax, name in zip(axes.flat, names, strict=True):
        for t in np.unique(time):
            ax.plot(spot[time == t], np.asarray(found[name])[time == t], label=f"{t:g} years")
        ax.set(title=name)
    axes[0, 0].legend(frameon=False, fontsize="small")
    figure.supxlabel("price of the share")
    figure.savefig(file, dpi=80)


def main(arguments=None):
    """Prints the largest errors of all derivatives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    with irax.enable_x64(True):
        spot, volatility, time, rate = options_on(8 if options.small else 200)
        found = board(spot, volatility, time, rate)
        exact = in_closed_form(spot, volatility, time, rate)
        figures = {
            f"error of {name}": float(np.max(np.abs(found[name] - exact[name]))) for name in exact
        }
        worth = np.asarray(found["price"]) - np.maximum(spot - STRIKE * np.exp(-rate * time), 0)
        quoted = worth > 1e-3  # the others don't depend on the volatility
        implied = implied_volatility(found["price"], spot, time, np.full_like(spot, rate))
        figures["error of implied"] = float(np.max(np.abs(implied - volatility)[quoted]))
        normals = np.random.default_rng(0).normal(size=10**4 if options.small else 10**6)
        at = 100.0, 0.2, 1.0, rate
        (value, delta, vega), errors = simulated(*at, normals)
        exact = in_closed_form(*at)
        figures["simulated price"] = float(value)
        figures["standard errors of price"] = float(abs(value - price(*at)) / errors[0])
        figures["standard errors of delta"] = float(abs(delta - exact["delta"]) / errors[1])
        figures["standard errors of vega"] = float(abs(vega - exact["vega"]) / errors[2])
    for name, number in figures.items():
        print(f"{name:24} {number:.3g}")
    if options.picture:
        draw(options.picture, spot, time, found)
    return figures


if __name__ == "__main__":
    main()
