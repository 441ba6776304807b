"""The spaces of memory that arrays are in: `irax.device_put(x, irax.memory.Space.Host)`."""

from __future__ import annotations

from irax.core.shardings.memory_spaces import Space as Space

__all__ = ["Space"]
