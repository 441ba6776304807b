"""IREE's compiler: how it is called, what it makes of modules, and cures for what comes out."""
