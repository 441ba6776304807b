"""Legalization: rewrites of StableHLO into a form that a target compiles correctly, a small one for
each defect.
"""
