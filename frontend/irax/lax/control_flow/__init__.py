"""Loops, branches, scans, and solutions of equations given as functions."""
