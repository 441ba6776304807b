"""irax.scipy.integrate: integrals of samples."""

from irax.numpy.calculus import trapezoid as trapezoid
