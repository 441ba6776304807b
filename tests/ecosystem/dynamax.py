"""dynamax: a linear Gaussian model and a hidden Markov model, filtered, smoothed and fitted."""

import jax
from dynamax.hidden_markov_model import GaussianHMM
from dynamax.linear_gaussian_ssm import LinearGaussianSSM


def run():
    linear = LinearGaussianSSM(2, 2)
    params, props = linear.initialize(jax.random.key(0))
    _, emissions = linear.sample(params, jax.random.key(1), 30)
    filtered = linear.filter(params, emissions)
    smoothed = linear.smoother(params, emissions)
    _, likelihoods = linear.fit_em(params, props, emissions, num_iters=3, verbose=False)

    hidden = GaussianHMM(3, 2)
    start, start_props = hidden.initialize(jax.random.key(3))
    _, observed = hidden.sample(start, jax.random.key(4), 50)
    _, by_em = hidden.fit_em(start, start_props, observed, num_iters=3, verbose=False)
    _, by_gradients = hidden.fit_sgd(start, start_props, observed[None], num_epochs=5)
    return {
        "likelihood": filtered.marginal_loglik,
        "smoothed": smoothed.smoothed_means,
        "fitted": likelihoods,
        "hidden": hidden.filter(start, observed).marginal_loglik,
        "path": hidden.most_likely_states(start, observed),
        "by_em": by_em,
        "by_gradients": by_gradients,
    }
