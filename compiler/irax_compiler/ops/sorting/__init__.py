"""Sorting and selection by order."""
