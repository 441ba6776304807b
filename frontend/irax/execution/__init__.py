"""How programs run: jit, single operations, replays, devices and callbacks."""
