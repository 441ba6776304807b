"""irax.ad_checkpoint: `checkpoint`, its policies, and names for them, where JAX has them."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.transforms.checkpoint import Offloadable as Offloadable
from irax.transforms.checkpoint import Policy as Policy
from irax.transforms.checkpoint import Recompute as Recompute
from irax.transforms.checkpoint import Saveable as Saveable
from irax.transforms.checkpoint import checkpoint as checkpoint
from irax.transforms.checkpoint import checkpoint_name as checkpoint_name
from irax.transforms.checkpoint import checkpoint_policies as checkpoint_policies
from irax.transforms.checkpoint import print_saved_residuals as print_saved_residuals
from irax.transforms.checkpoint import remat as remat

__getattr__: _GetAttr = _refuse_names(__name__)
