"""jax.experimental.compilation_cache.compilation_cache: options of the folder of programs."""

from irax.config import config


def set_cache_dir(path: str) -> None:
    """Keep compiled programs in a folder."""
    config.update("compilation_cache_dir", path)


def initialize_cache(path: str) -> None:
    """Keep compiled programs in a folder: another name of `set_cache_dir`."""
    set_cache_dir(path)


def reset_cache() -> None:
    """Accepted: irax holds no state of the folder."""


def is_initialized() -> bool:
    """Return True: irax keeps compiled programs without being asked."""
    return True
