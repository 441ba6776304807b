"""checkify: checks in functions that are compiled, whose failures are values.

def f(x):
    checkify.check(x > 0, "x must be positive, got {x}", x=x)
    return jnp.log(x)

err, out = checkify.checkify(irax.jit(f))(x)
err.throw()
"""

from irax.experimental.checkify.checking import check as check
from irax.experimental.checkify.checking import check_error as check_error
from irax.experimental.checkify.checking import debug_check as debug_check
from irax.experimental.checkify.errors import Error as Error
from irax.experimental.checkify.errors import ErrorCategory as ErrorCategory
from irax.experimental.checkify.errors import JaxException as JaxException
from irax.experimental.checkify.errors import JaxRuntimeError as JaxRuntimeError
from irax.experimental.checkify.errors import all_checks as all_checks
from irax.experimental.checkify.errors import automatic_checks as automatic_checks
from irax.experimental.checkify.errors import div_checks as div_checks
from irax.experimental.checkify.errors import float_checks as float_checks
from irax.experimental.checkify.errors import index_checks as index_checks
from irax.experimental.checkify.errors import init_error as init_error
from irax.experimental.checkify.errors import nan_checks as nan_checks
from irax.experimental.checkify.errors import user_checks as user_checks
from irax.experimental.checkify.functionalize import checkify as checkify
