"""irax.scipy.spatial: rotations in three dimensions."""

from irax.scipy.spatial import transform as transform
