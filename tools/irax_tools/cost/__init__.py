"""The cost of a function on this machine: what its dispatches should take, and what they take.

origins   the operations of the function that each dispatch computes
measure   the time of each dispatch, and of a call
peaks     what this machine can do at most
table     all that as text
plot      a roofline, as SVG
page      the dispatches in the page of `irax show`
"""
