"""Mutable arrays, and values that hold arrays and change."""
