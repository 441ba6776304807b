"""jaxsr: an expression found among basis functions, by steps and by lasso, and intervals."""

import jax.numpy as jnp
import numpy as np
from jaxsr import BasisLibrary, SymbolicRegressor


def run():
    draws = np.random.default_rng(42)
    x = 2 * draws.normal(size=(120, 2))
    y = 2.5 * x[:, 0] + 1.2 * x[:, 0] * x[:, 1] - 0.8 * x[:, 1] ** 2
    x, y = jnp.array(x), jnp.array(y + 0.1 * draws.normal(size=120))
    found = {}
    for strategy in ("greedy_forward", "lasso_path"):
        library = BasisLibrary(n_features=2, feature_names=["a", "b"])
        library = library.add_constant().add_linear().add_polynomials(max_degree=3)
        model = SymbolicRegressor(
            basis_library=library.add_interactions(max_order=2),
            max_terms=4,
            strategy=strategy,
            information_criterion="bic",
        )
        model.fit(x, y)
        found[strategy] = [model.coefficients_, model.metrics_["r2"], model.predict(x[:5])]
        found[f"{strategy}: intervals"] = model.predict_interval(x[:3])
    return found
