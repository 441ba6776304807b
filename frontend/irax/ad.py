"""The forms in which the pullback of `irax.vjp` returns cotangents: see `with_refs` there."""

from irax.transforms.pullbacks import DidntWant, DontWant, GradRef, GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
