"""`irax opt`, which reads, prints and checks modules as `mlir-opt` does.

chunks        the modules of an input
pipelines     passes as options and pipelines name them
diagnostics   those that a file expects, and those that come
run           passes on each module
"""
