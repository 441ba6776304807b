"""IREE's compiler: how it is called, what it makes of modules, and repairs of what comes out."""
