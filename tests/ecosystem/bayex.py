"""bayex: Bayesian optimization of a function of one variable."""

import bayex
import jax
import numpy as np


def f(x):
    return -(1.4 - 3 * x) * np.sin(18 * x)


def run():
    domain = {"x": bayex.domain.Real(0.0, 2.0)}
    optimizer = bayex.Optimizer(domain=domain, maximize=True, acq="EI")
    params = {"x": [0.0, 0.5, 1.0]}
    state = optimizer.init([f(x) for x in params["x"]], params)
    key = jax.random.key(42)
    tried = []
    for step in range(4):
        new = optimizer.sample(jax.random.fold_in(key, step), state)
        tried.append(new["x"])
        state = optimizer.fit(state, f(**new), new)
    return {"about tried": tried, "about best": state.best_score}
