"""Records of derived functions: what a transformation returns."""

from __future__ import annotations

from dataclasses import dataclass

from irax_compiler.mlir import Type


@dataclass(frozen=True)
class Derived:
    """A function that a transformation made of another one."""

    name: str
    """The name of the new function."""


@dataclass(frozen=True)
class Differentiated(Derived):
    """A function of the arguments, then the tangents of the active ones, to the results, then
    their tangents.
    """

    active: tuple[bool, ...]
    """For each argument, True if it has a tangent."""
    results: tuple[bool, ...]
    """For each result, True if it has a tangent."""


@dataclass(frozen=True)
class Linearized(Differentiated):
    """A function split in two: `name` returns the results, then the residuals; `linear` takes the
    residuals, then the tangents of the active arguments, and returns those of the results.
    """

    linear: str
    residuals: tuple[int | Type, ...]
    """For each residual, the argument that it forwards, or its type."""

    @property
    def forward(self) -> str:
        """The name of the function of the arguments to the results, then the residuals."""
        return self.name


@dataclass(frozen=True)
class Transposed(Derived):
    """A function of the arguments that are not linear, then the cotangents of the results, to the
    cotangents of the linear arguments.
    """

    linear: tuple[bool, ...]
    """For each argument, True if the function is linear in it."""
    cotangents: tuple[bool, ...]
    """For each result, True if its cotangent is given."""
    results: tuple[bool, ...]
    """For each argument, True if it has a cotangent: one that is not zero."""


@dataclass(frozen=True)
class Batched(Derived):
    """A function of arguments with a mapped axis."""

    axes: tuple[int | None, ...]
    """For each argument, the mapped axis; None for one that all lanes share."""
    results: tuple[int | None, ...]
    """For each result, the mapped axis; None for one that is the same in all lanes."""


@dataclass(frozen=True)
class Reversed:
    """The two passes of reverse mode."""

    linearized: Linearized
    transposed: Transposed

    @property
    def forward(self) -> str:
        """The name of the function of the arguments to the results, then the residuals."""
        return self.linearized.forward

    @property
    def backward(self) -> str:
        """Return the name of the function from residuals and cotangents of the results to
        cotangents of the active arguments.
        """
        return self.transposed.name


@dataclass(frozen=True)
class Vjp(Derived):
    """A function of the arguments, then the cotangents of the results, to the results, then the
    cotangents of the active arguments.
    """

    passes: Reversed
