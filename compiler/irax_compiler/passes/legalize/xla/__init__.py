"""Legalizations for XLA's compilers, which PJRT plugins contain."""
