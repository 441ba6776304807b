"""irax.nn: the functions of neural networks.

Each takes arrays or numbers; integers become floats where the function does not keep them. All
functions raise TypeError for a list or another object, and ValueError for an axis that the array
does not have. Each function lists its other errors.
"""

from irax.execution.replay import replay_functions as _replay_functions
from irax.nn import initializers as initializers
from irax.nn.activations import celu as celu
from irax.nn.activations import elu as elu
from irax.nn.activations import gelu as gelu
from irax.nn.activations import glu as glu
from irax.nn.activations import hard_sigmoid as hard_sigmoid
from irax.nn.activations import hard_silu as hard_silu
from irax.nn.activations import hard_swish as hard_swish
from irax.nn.activations import hard_tanh as hard_tanh
from irax.nn.activations import identity as identity
from irax.nn.activations import leaky_relu as leaky_relu
from irax.nn.activations import log1mexp as log1mexp
from irax.nn.activations import log_sigmoid as log_sigmoid
from irax.nn.activations import mish as mish
from irax.nn.activations import relu as relu
from irax.nn.activations import relu6 as relu6
from irax.nn.activations import selu as selu
from irax.nn.activations import sigmoid as sigmoid
from irax.nn.activations import silu as silu
from irax.nn.activations import soft_sign as soft_sign
from irax.nn.activations import softplus as softplus
from irax.nn.activations import sparse_plus as sparse_plus
from irax.nn.activations import sparse_sigmoid as sparse_sigmoid
from irax.nn.activations import squareplus as squareplus
from irax.nn.activations import swish as swish
from irax.nn.activations import tanh as tanh
from irax.nn.attention import dot_product_attention as dot_product_attention
from irax.nn.axes import log_softmax as log_softmax
from irax.nn.axes import logmeanexp as logmeanexp
from irax.nn.axes import logsumexp as logsumexp
from irax.nn.axes import one_hot as one_hot
from irax.nn.axes import softmax as softmax
from irax.nn.axes import standardize as standardize
from irax.nn.scaled import BlockScaleConfig as BlockScaleConfig
from irax.nn.scaled import get_scaled_dot_general_config as get_scaled_dot_general_config
from irax.nn.scaled import scaled_dot_general as scaled_dot_general
from irax.nn.scaled import scaled_matmul as scaled_matmul

_replay_functions(__name__)
