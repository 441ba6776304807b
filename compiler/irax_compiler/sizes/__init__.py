"""Sizes of dimensions that are known by name: expressions of variables such as `2*batch + 1`."""

from irax_compiler.sizes.comparison import at_least as at_least
from irax_compiler.sizes.comparison import variables as variables
from irax_compiler.sizes.expressions import Size as Size
from irax_compiler.sizes.scopes import SymbolicScope as SymbolicScope
from irax_compiler.sizes.terms import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)
from irax_compiler.sizes.terms import is_symbolic as is_symbolic
from irax_compiler.sizes.values import larger as larger
from irax_compiler.sizes.values import smaller as smaller
from irax_compiler.sizes.values import substituted as substituted
