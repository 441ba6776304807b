"""Moves of data, and the order of rows, as dispatches whose kernels copy and compare by vectors."""
