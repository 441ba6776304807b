"""Functions of `irax.numpy` that reduce axes: sums, extrema, means, quantiles, histograms."""
