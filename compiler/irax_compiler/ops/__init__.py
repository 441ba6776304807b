"""Every op irax knows, a family a file.

Families refer to each other (the transpose of a broadcast is a reduction), so a family imports the
others as modules, never names out of them.
"""

from irax_compiler.ops import (  # noqa: F401  (importing a family registers its ops)
    elementwise,
    bitwise,
    comparison,
    control_flow,
    conversion,
    dot,
    dynamic,
    gather,
    reduction,
    scatter,
    shape,
    sort,
)
