"""irax.scipy.spatial: rotations of space."""

from irax.scipy.spatial import transform as transform
