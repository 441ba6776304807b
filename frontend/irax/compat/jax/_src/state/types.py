"""Types of mutable arrays, of which irax has none."""

from irax.ref import AbstractRef as AbstractRef
