"""irax.scipy.integrate: integrals of samples."""

from irax.numpy.calculus import trapezoid as trapezoid
from irax.replay import replay_functions as _replay_functions

_replay_functions(__name__)
