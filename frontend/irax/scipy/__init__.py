"""SciPy's functions on arrays."""

from irax.scipy import linalg as linalg
from irax.scipy import sparse as sparse
