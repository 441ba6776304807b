"""Jaxprs: functions as lists of equations, with the names that JAX has for operations."""
