"""Ops that read and write parts of arrays at computed positions."""
