"""Execution: jit, single operations, replays, devices and callbacks."""
