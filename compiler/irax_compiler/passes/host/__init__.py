"""Passes on what a program shares with its process: callbacks, C functions, donation, metadata."""
