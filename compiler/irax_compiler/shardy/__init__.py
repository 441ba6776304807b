"""Layouts of values on meshes: attributes of functions, types, and Shardy's operations."""
