"""Indices of arrays: parsing, reads, updates, and objects that make them."""
