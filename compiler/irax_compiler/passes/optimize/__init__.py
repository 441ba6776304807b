"""Optimizations of StableHLO for every target: simplification, folding, code motion, outlining."""
