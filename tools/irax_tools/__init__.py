"""The `irax` command."""
