"""Legalizations of arithmetic: functions and conversions with StableHLO's values."""
