"""Reductions over dimensions, and the shapes of windows."""
