"""jax.experimental.layout: the order of an array's elements in memory."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.experimental.layout import Format as Format
from irax.experimental.layout import Layout as Layout
from irax.experimental.layout import with_layout_constraint as with_layout_constraint

DeviceLocalLayout = Layout

__getattr__: _GetAttr = _refuse_names("irax.experimental.layout")
