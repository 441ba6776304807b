"""The programs that are measured, a file for each family."""

from benchmarks.families import (
    attention,
    carried,
    convolutions,
    elementwise,
    float64,
    indexed,
    integers,
    linalg,
    loops,
    moves,
    products,
    random_numbers,
    recurrent,
    reductions,
    scans,
    stencils,
    training,
)
from benchmarks.program import Program

FAMILIES: dict[str, list[Program]] = {
    "elementwise": elementwise.PROGRAMS,
    "reductions": reductions.PROGRAMS,
    "moves": moves.PROGRAMS,
    "products": products.PROGRAMS,
    "convolutions": convolutions.PROGRAMS,
    "attention": attention.PROGRAMS,
    "training": training.PROGRAMS,
    "recurrent": recurrent.PROGRAMS,
    "loops": loops.PROGRAMS,
    "scans": scans.PROGRAMS,
    "indexed": indexed.PROGRAMS,
    "carried": carried.PROGRAMS,
    "stencils": stencils.PROGRAMS,
    "linalg": linalg.PROGRAMS,
    "random": random_numbers.PROGRAMS,
    "float64": float64.PROGRAMS,
    "integers": integers.PROGRAMS,
}
