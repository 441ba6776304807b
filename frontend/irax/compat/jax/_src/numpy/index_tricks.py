"""jax._src.numpy.index_tricks: the classes of r_ and c_, which libraries derive from."""

import irax.numpy
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.numpy)

RClass: type[object] = type(irax.numpy.r_)
CClass: type[object] = type(irax.numpy.c_)
