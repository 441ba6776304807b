"""Legalizations of what IREE refuses, gets wrong, or is slow at, on any device."""
