"""jaxlib._jax.pytree: structures of pytrees, and the steps of key paths."""

from irax.tree_util import DictKey as DictKey
from irax.tree_util import FlattenedIndexKey as FlattenedIndexKey
from irax.tree_util import GetAttrKey as GetAttrKey
from irax.tree_util import PyTreeDef as PyTreeDef
from irax.tree_util import SequenceKey as SequenceKey
