"""Kernels that irax writes itself, as HAL executables and their dispatches."""
