"""jaxfolio: portfolios of least variance, best ratio and equal risks."""

import jaxfolio as jf
import numpy as np


def run():
    returns = jf.generate_returns(n_assets=6, seed=0)
    kinds = (jf.maximum_sharpe, jf.minimum_variance, jf.risk_parity, jf.hierarchical_risk_parity)
    return {kind.__name__: np.asarray(kind(returns).weights) for kind in kinds}
