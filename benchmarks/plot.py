"""A picture of results: the ratio of each program, a row for each family."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from benchmarks.report import LIMIT
from benchmarks.results import Results, geometric_mean


def plot(results: Results, file: Path) -> None:
    """Draws irax's time over JAX's for each program, and each family's geometric mean."""
    families = results.families()
    figure, axes = plt.subplots(figsize=(9, 0.5 * len(families) + 1.5), layout="constrained")
    for place, rows in enumerate(families.values()):
        ratios = [ratio for row in rows if (ratio := row.ratio()) is not None]
        colours = ["tab:red" if ratio > LIMIT else "tab:blue" for ratio in ratios]
        axes.scatter(ratios, [place] * len(ratios), c=colours, alpha=0.5, s=24, linewidths=0)
        if (mean := geometric_mean(rows)) is not None:
            axes.scatter([mean], [place], marker="|", c="black", s=220)
    axes.axvline(1, color="grey", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(families)), list(families))
    axes.invert_yaxis()
    axes.set_xlabel("time of irax / time of JAX; black: geometric mean")
    figure.savefig(file)
    plt.close(figure)
