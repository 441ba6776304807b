"""Modules as other software has them: bytecode, text, and files of exports."""
