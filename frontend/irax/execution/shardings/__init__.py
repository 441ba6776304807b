"""Functions and arrays that are divided among devices."""
