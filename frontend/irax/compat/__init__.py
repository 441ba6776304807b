"""irax under the name of JAX, for libraries and programs that import `jax`.

    import irax.compat
    irax.compat.install()
    import optax, flax        # and whatever else is written against JAX

`python -m irax.compat script.py` and `irax python script.py` run a program that way.
"""

from irax.compat.finder import JAX_VERSION as JAX_VERSION
from irax.compat.finder import install as install
