"""Passes on what a program shares with its process: callbacks, donation, metadata."""
