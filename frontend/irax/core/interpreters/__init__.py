"""Interpreters of operations: NumPy and devices, which run them at once; a trace and a replay."""
