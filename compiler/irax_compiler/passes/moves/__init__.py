"""Moves of data as dispatches whose kernels copy by vectors."""
