"""Reductions: over dimensions, over windows, and cumulative."""
