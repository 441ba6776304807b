"""Legalizations for XLA's compilers, behind PJRT."""
