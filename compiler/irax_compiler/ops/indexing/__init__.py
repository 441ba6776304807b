"""Reading and writing parts of arrays at computed places."""
