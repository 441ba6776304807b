"""Legalizations for GPUs that IREE compiles for."""
