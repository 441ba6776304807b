"""Legalizations of operations that IREE rejects, compiles wrongly, or runs slowly, on any
device.
"""
