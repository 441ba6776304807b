"""jax._src.literals: Python numbers in traces, which irax has no classes for."""


class LiteralArray:
    """The class of no object."""


class TypedInt(int):
    """The class of no object."""


class TypedFloat(float):
    """The class of no object."""


class TypedComplex(complex):
    """The class of no object."""


class TypedNdArray:
    """The class of no object."""
