"""Sorting, and what is selected by order."""
