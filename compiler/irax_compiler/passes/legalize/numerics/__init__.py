"""Legalizations of arithmetic: functions and conversions with the values that StableHLO defines."""
