"""Moves of data as dispatches of IREE's that are written out: gathers and scatters."""
