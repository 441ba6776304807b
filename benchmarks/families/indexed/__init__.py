"""Loops that index arrays at computed places."""

from benchmarks.families.indexed import algorithms, learning, sampling, solvers, updates

PROGRAMS = [
    *learning.PROGRAMS,
    *updates.PROGRAMS,
    *sampling.PROGRAMS,
    *solvers.PROGRAMS,
    *algorithms.PROGRAMS,
]
