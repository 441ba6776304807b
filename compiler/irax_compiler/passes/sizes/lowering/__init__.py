"""The lowering of operations with symbolic sizes, for the pass dynamic-shapes."""
