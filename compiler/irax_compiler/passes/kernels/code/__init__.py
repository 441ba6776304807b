"""Places, registers, loads and stores, loops: what the code of kernels is built from."""
