"""Legalizations for GPUs, by IREE."""
