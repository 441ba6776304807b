"""The reference evaluator, which runs modules in NumPy."""
