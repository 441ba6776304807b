"""Modules whose interfaces may still change."""

from irax.execution.callbacks import io_callback as io_callback
from irax.experimental import ode as ode
