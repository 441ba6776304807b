"""irax.ad_checkpoint: `checkpoint`, its policies, and names for them, where JAX has them."""

from irax.absent import refuse_names as _refuse_names
from irax.checkpointing import Policy as Policy
from irax.checkpointing import checkpoint as checkpoint
from irax.checkpointing import checkpoint_name as checkpoint_name
from irax.checkpointing import checkpoint_policies as checkpoint_policies
from irax.checkpointing import print_saved_residuals as print_saved_residuals
from irax.checkpointing import remat as remat

__getattr__ = _refuse_names(__name__)
