"""Files of arrays: the class that orbax's managers derive from."""

from abc import ABCMeta


class GlobalAsyncCheckpointManagerBase(metaclass=ABCMeta):  # noqa: B024
    """The base of managers of checkpoints."""
