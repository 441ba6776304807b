"""Differences of modules in what they say, not in how they are written.

matching   which functions and operations of two modules correspond
telling    those that were added, removed or changed, line by line
"""
