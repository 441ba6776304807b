"""The IR: modules, operations, types and attributes, by the MLIR bindings.

Other files import this module, `from irax_compiler import mlir`, and not the bindings themselves.
"""

from irax_compiler.dtypes import DTYPES, inexact, is_narrow_integer, width
from irax_compiler.mlir.attributes import (
    array,
    attribute_text,
    dictionary,
    parse_attribute,
    reflection,
    string,
    symbol,
    type_attribute,
)
from irax_compiler.mlir.bindings import (
    CONTEXT,
    UNKNOWN,
    Attribute,
    Block,
    InsertionPoint,
    Location,
    MLIRError,
    Module,
    Operation,
    RankedTensorType,
    Type,
    Value,
    VectorType,
    ir,
    passmanager,
)
from irax_compiler.mlir.constants import dense, dense_of_number, dense_to_numpy, splat
from irax_compiler.mlir.modules import (
    bytecode,
    clone_module,
    error_text,
    generic_text,
    new_module,
    open_function,
    open_module,
    parse_module,
)
from irax_compiler.mlir.operations import (
    captured,
    clone,
    clone_all,
    comparable,
    copy,
    current_location,
    definition,
    emit,
    file_location,
    is_argument,
    location_text,
    named,
    num_uses,
    owner_name,
    terminator,
    text_of,
)
from irax_compiler.mlir.symbols import (
    Functions,
    arguments,
    body,
    callee,
    calls,
    copy_functions,
    declare_function,
    finish_function,
    function_beside,
    function_name,
    functions,
    is_public,
    make_public,
    named_functions,
    new_function,
    references,
    rename_functions,
    result_types,
    set_function_type,
    unique_name,
)
from irax_compiler.mlir.types import (
    dtype_of,
    dtype_of_type,
    element_type,
    function_type,
    is_inexact,
    is_sized,
    parse_type,
    shape_of,
    shape_of_type,
    sizes_attribute,
    sizes_in,
    tensor_type,
    type_problem,
)
