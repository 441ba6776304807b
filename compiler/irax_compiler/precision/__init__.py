"""The precision of programs: where digits are lost, by runs in two precisions at once.

run = shadow.run(module, "main", arrays)    each op in its own precision, and in a wider one
report = precision_report(module, ...)      the digits that hold, and the lines that cost them
"""
