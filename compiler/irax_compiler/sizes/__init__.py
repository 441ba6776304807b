"""Sizes of dimensions that are known by name: expressions of variables such as `2*batch + 1`."""

from irax_compiler.sizes.expressions import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)
from irax_compiler.sizes.expressions import Size as Size
from irax_compiler.sizes.expressions import at_least as at_least
from irax_compiler.sizes.expressions import is_symbolic as is_symbolic
from irax_compiler.sizes.expressions import larger as larger
from irax_compiler.sizes.expressions import smaller as smaller
from irax_compiler.sizes.expressions import substituted as substituted
from irax_compiler.sizes.expressions import variables as variables
from irax_compiler.sizes.scopes import SymbolicScope as SymbolicScope
