"""Local rewrites that make StableHLO what a person would have written: one small function each.

`rewrite.py` says what a rule is; the other files hold the rules, a kind of operation each.
"""

from irax_compiler.passes.simplify import (
    arithmetic,
    contraction,
    indexing,
    movement,
    reduction,
    signs,
)
from irax_compiler.passes.simplify.rewrite import RULES
from irax_compiler.passes.simplify.simplify import Simplify

__all__ = ["RULES", "Simplify"]
