"""Functions beside other devices: there are none."""
