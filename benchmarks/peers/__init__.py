"""Everyday programs in irax beside PyTorch, OpenVINO, Numba and JAX, on one machine in one run."""
