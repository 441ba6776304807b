"""A client of the PJRT C API: any plugin that has it (XLA's for CPU and GPU, libtpu) is a device.

Plugins are shared libraries found by `plugins`, loaded by `api`; `client` has their devices,
`buffers` arrays on them and `executables` programs. It needs ctypes and NumPy alone.
"""
