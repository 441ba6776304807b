"""IREE's devices, and the programs loaded there."""
