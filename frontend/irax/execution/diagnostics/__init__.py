"""Diagnostics: explanations, profiles, memory, progress, logs and a debugger."""
