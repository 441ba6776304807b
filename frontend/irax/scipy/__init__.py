"""SciPy's functions on arrays."""

from irax.scipy import sparse as sparse
