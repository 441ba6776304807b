"""An example of a package that extends irax. Each module is one entry point of pyproject.toml."""
