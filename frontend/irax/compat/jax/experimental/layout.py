"""jax.experimental.layout: the order of an array's elements in memory."""

from irax.experimental.layout import Format as Format
from irax.experimental.layout import Layout as Layout
from irax.experimental.layout import with_layout_constraint as with_layout_constraint

DeviceLocalLayout = Layout
