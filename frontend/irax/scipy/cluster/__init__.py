"""irax.scipy.cluster: groups of vectors."""

from irax.scipy.cluster import vq as vq
