"""econpizza: the steady state of a macroeconomic model, and a path after a shock."""

import econpizza as ep


def run():
    model = ep.load(ep.parse(ep.examples.nk), verbose=False)
    model.solve_stst(verbose=False)
    path = model.find_path(shock=("e_beta", 0.005), verbose=False)[0]
    return {"steady": model.stst, "path": path[:20]}
