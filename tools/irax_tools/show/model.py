"""The stages of a function on its way to a program, as plain data.

A function that a pass leaves as it is stands in the model once; stages refer to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Frame = tuple[int, int, list[str]]
"""A file, by its place in `Page.files`, a line of it, and transformations, the last first."""


@dataclass
class File:
    """A file that operations come from."""

    name: str
    """As short as it can be, to tell it from the others."""
    path: str
    language: str
    """`python`, `mlir` or another suffix of a file's name."""
    lines: list[str]
    """All its lines; none where the file is not there any more."""
    shown: list[tuple[int, int]] = field(default_factory=list)
    """The lines around those that operations come from: first and last, counted from 1."""


@dataclass
class Body:
    """A function, or another operation at the top of a module, as text.

    The lists are as long as `text`, unless they say otherwise.
    """

    name: str
    text: list[str]
    operation: list[str]
    """The name of the operation that begins on a line; empty where none does."""
    location: list[int]
    """For each line, the index of its location in `Page.locations`; -1 where that is not known."""
    regions: dict[int, int]
    """The last line of each operation that takes more than one, by its first."""
    flops: list[float]
    """For each line, floating-point operations, summed over all executions in one call of the
    function, as the other costs."""
    transcendentals: list[float]
    bytes: list[float]
    runs: dict[int, float]
    """For lines that a call of the function does not execute just once, the number of executions.
    """


@dataclass
class Stage:
    """A module after a pass."""

    name: str
    options: str
    group: str
    """The group of the pass: `trace`, `derive`, `lower` or `iree`."""
    entry: str
    """The function whose costs are those of the module; empty where costs are not known."""
    bodies: list[tuple[int, float]]
    """Each by its place in `Page.bodies`, and how often a call of the entry runs it."""
    uncounted: int
    """The number of operations of dialects whose costs are not known."""
    seconds: float
    """The time that the pass took, in seconds."""

    @property
    def full_name(self) -> str:
        """The pass with its options, as a pipeline has it."""
        return f"{self.name}{{{self.options}}}" if self.options else self.name


@dataclass
class Run:
    """A dispatch of the program, in all its runs of a call."""

    name: str
    operations: list[str]
    seconds: float | None
    """The time that it takes; None where it was not measured."""
    expected: float
    """The time that it should take."""
    bound: str
    """The limit that it meets first: `compute`, `memory` or `launch`."""
    runs: float
    flops: float
    transcendentals: float
    bytes: float
    stack: list[Frame]
    """The lines that all its operations are called from, the outermost first."""
    lines: list[Frame]
    """The lines of its operations."""


@dataclass
class CostlyLine:
    """A line of source, and what it costs the result that has lost the most digits."""

    frame: Frame
    digits: float
    """The digits that it costs, at most those that there are."""
    own: float
    """The share of the result's error that is made there."""
    notes: list[str]


@dataclass
class Digits:
    """The digits that hold in the results, for some arguments."""

    told: list[str]
    """For each result, a line that says how many hold."""
    holds: bool
    """False where a result has lost more than rounding always costs."""
    lines: list[CostlyLine]
    """The lines that the worst result depends on, the one that costs most first."""


@dataclass
class Matrix:
    """The pattern of a derivative, with its colors."""

    title: str
    told: str
    """Its shape, and the numbers of its elements and colors."""
    dots: str
    """A picture for a terminal."""
    svg: str
    """A picture, with the colors."""


@dataclass
class Called:
    """The calls of a function in a run of a program."""

    count: int
    seconds: float
    """The time of all of them."""
    making: float
    """The time that tracing and compiling the function took."""


@dataclass
class Page:
    """All stages of a function."""

    title: str
    target: str
    files: list[File] = field(default_factory=list)
    locations: list[list[Frame]] = field(default_factory=list)
    """For each, the line that operations were written at, then those of calls around it."""
    bodies: list[Body] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    opens: int = 0
    """The stage that is shown first."""
    error: str = ""
    """Why there are no more stages, where a pass failed."""
    runs: list[Run] = field(default_factory=list)
    """The dispatches of the program, where they were measured."""
    seconds: float = 0.0
    """The time of a call, where it was measured."""
    called: Called | None = None
    """The calls of it in a run of a program, where that was watched."""
    digits: Digits | None = None
    """The digits that hold, where they were counted."""
    matrix: Matrix | None = None
    """The pattern of the Jacobian, where it was asked for."""
