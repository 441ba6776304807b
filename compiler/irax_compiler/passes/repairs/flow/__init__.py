"""Programs in IREE's dialect flow: what kernels read and write, and copies of arrays."""
