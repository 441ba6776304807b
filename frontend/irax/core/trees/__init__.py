"""Pytrees: the registry, structures, prefixes, and errors that say where a structure differs."""
