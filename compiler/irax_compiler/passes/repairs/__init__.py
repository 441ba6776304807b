"""Corrections of what IREE's compiler does, before and between its phases."""
