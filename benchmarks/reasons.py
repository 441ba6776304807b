"""The reasons for which programs take more than 1.2 times JAX's time, for docs/benchmarks.md."""

from __future__ import annotations

REASONS: dict[str, str] = {}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""
