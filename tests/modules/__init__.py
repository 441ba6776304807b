"""Modules of other frameworks, made anew by them and tried with irax: `make modules`."""
