"""Kalmax: positions decoded from spikes by kernel densities, a Kalman filter and a smoother."""

import jax
import jax.numpy as jnp
import kalmax


def run():
    k = jax.random.split(jax.random.key(0), 3)
    t = jnp.linspace(0, 6, 200)
    Z = jnp.stack([0.5 + 0.4 * jnp.cos(t), 0.5 + 0.4 * jnp.sin(2 * t)], -1)
    centers = jax.random.uniform(k[0], (12, 2))
    rate = 2 * jnp.exp(-jnp.sum((Z[:, None] - centers) ** 2, -1) / 0.05)
    S = jax.random.poisson(k[1], rate)
    g = jnp.linspace(0, 1, 10)
    bins = jnp.stack(jnp.meshgrid(g, g), -1).reshape(-1, 2)
    fr = kalmax.kde.kde(
        bins=bins,
        trajectory=Z,
        spikes=S,
        kernel=kalmax.kernels.gaussian_kernel,
        kernel_bandwidth=0.05,
    )
    ll = kalmax.kde.poisson_log_likelihood(spikes=S[:50], mean_rate=fr)
    means, modes, _ = kalmax.utils.fit_gaussian_vmap(x=bins, likelihoods=jnp.exp(ll))
    mu0, s0, F, Q, H, R = kalmax.kalman.fit_parameters(Z[:50], modes)
    kf = kalmax.KalmanFilter(dim_Z=2, dim_Y=2, F=F, Q=Q, H=H, R=R)
    mf, sf = kf.filter(Y=modes, mu0=mu0, sigma0=s0)
    ms, ss = kf.smooth(mus_f=mf, sigmas_f=sf)
    return {"rates": fr, "ll": ll[:3], "means": means, "filter": mf, "smooth": ms, "cov": ss[:3]}
