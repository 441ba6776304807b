"""irax.scipy.cluster: clusters of vectors."""

from irax.scipy.cluster import vq as vq
