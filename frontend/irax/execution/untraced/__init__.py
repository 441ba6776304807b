"""Starts that trace nothing: programs of earlier processes, found by what a trace would depend on.

reading.py        the globals that a function's code reads
known.py          functions and classes of Python's, NumPy's and irax's that are known to be pure
own_code.py       the state of irax's own code
registrations.py  what classes were registered as
process_state.py  the state of the process that functions read
walk.py           the description of a function and all that it reaches, or why there is none
trees.py          structures of pytrees as plain data
records.py        the records on disk
first_calls.py    calls that look for one, and keep one
"""
