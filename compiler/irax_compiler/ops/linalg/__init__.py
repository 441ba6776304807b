"""Factorizations of matrices and solutions of linear equations."""
