"""Dtypes: canonical forms, the lattice of promotion, and the operands of operations."""
