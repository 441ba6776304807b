"""Ops that hold other computations: branches, loops, scans, and calls with rules of their own."""
