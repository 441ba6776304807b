"""Kerneljax: local regression and densities, with bandwidths by cross validation."""

import kerneljax as kj
import numpy as np


def run():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=100)
    y = np.sin(2 * np.pi * x) + rng.normal(0, 0.2, 100)
    fit = kj.local_poly(x, y, "cv_ls", degree=1)
    const = kj.local_poly(x, y, "cv_ls", degree=0)
    return {"h": fit.bandwidth.h, "mean": fit.mean, "r2": fit.r_squared, "const": const.mean}
