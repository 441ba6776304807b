"""irax's runtime: devices, buffers and executables. It needs iree-base-runtime and NumPy alone."""
