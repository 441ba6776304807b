"""Functions with rules of their own for `vmap`."""

from irax.transforms.custom_vmap import custom_vmap as custom_vmap
from irax.transforms.custom_vmap import sequential_vmap as sequential_vmap
