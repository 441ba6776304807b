"""IREE's compiler: its invocation, its intermediate forms, and repairs of its output."""
