"""Arrays of other libraries, and which dtypes can be shared with them."""

from irax.numpy.dlpack import from_dlpack as from_dlpack
from irax.numpy.dlpack import is_supported_dtype as is_supported_dtype
