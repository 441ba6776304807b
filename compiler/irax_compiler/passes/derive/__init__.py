"""Derived functions: derivatives, transposes, batches, and what they are made of."""
