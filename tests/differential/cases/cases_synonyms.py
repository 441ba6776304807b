"""Operations that say in another way what others say, against NumPy."""

import numpy as np
import scipy.special
from tests.differential.harness import Case, Operand, boolean, f64, fixed, i32, of

from irax_compiler import mlir


def text(name: str, result: Operand, *operands: Operand, attributes: str = "") -> str:
    """A module of one operation."""
    types = [str(mlir.tensor_type(o.shape, o.dtype)) for o in operands]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    given = ", ".join(f"%a{i}" for i in range(len(types)))
    out = mlir.tensor_type(result.shape, result.dtype)
    return f"""
    func.func @main({arguments}) -> {out} {{
      %0 = "{name}"({given}) {{{attributes}}} : ({", ".join(types)}) -> {out}
      return %0 : {out}
    }}
    """


def case(name: str, reference, result: Operand, *operands: Operand, attributes="", **options):
    subject = text(name, result, *operands, attributes=attributes)
    label = name.partition(".")[2] + options.pop("suffix", "")
    return Case(label, subject, operands, reference, **options)


ROW, COLUMN, BOTH = f64(5, low=0.3), f64(4, 1, low=0.3), f64(4, 5)
INTEGERS = i32(3, low=0), i32(2, 1, low=1), i32(2, 3)
OF_FLOATS = {
    "add": np.add,
    "atan2": np.arctan2,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "power": np.power,
    "remainder": np.fmod,
    "subtract": np.subtract,
}
OF_INTEGERS = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "shift_left": np.left_shift,
    "shift_right_arithmetic": np.right_shift,
    "shift_right_logical": np.right_shift,
    "xor": np.bitwise_xor,
}
OF_CHLO = [
    ("next_after", np.nextafter, {"differentiable": False}),
    ("zeta", scipy.special.zeta, {"wrt": [1]}),
]
SIZES = fixed([2, 0, 1], np.int32)


def ragged(ragged_dimension: int, groups: str, contracting: str = "1") -> str:
    return (
        "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], "
        f"rhs_batching_dimensions = [], lhs_contracting_dimensions = [{contracting}], "
        f"rhs_contracting_dimensions = [{contracting}], "
        f"lhs_ragged_dimensions = [{ragged_dimension}], rhs_group_dimensions = [{groups}]>"
    )


def products_of_rows(x, y, sizes):
    """The first two of four rows times the first matrix, one times the last, and zeros."""
    return np.stack([x[0] @ y[0], x[1] @ y[0], x[2] @ y[2], np.zeros(y.shape[-1])])


def products_of_groups(x, y, sizes):
    return np.stack([x[:, :2] @ y[:2], 0 * (x @ y), x[:, 2:3] @ y[2:3]])


CASES = [
    *(
        case(f"chlo.broadcast_{name}", function, BOTH, ROW, COLUMN)
        for name, function in OF_FLOATS.items()
    ),
    *(
        case(f"chlo.broadcast_{name}", function, INTEGERS[2], *INTEGERS[:2])
        for name, function in OF_INTEGERS.items()
    ),
    *(
        case(f"chlo.broadcast_{name}", function, BOTH, f64(5, low=2, high=4), COLUMN, **options)
        for name, function, options in OF_CHLO
    ),
    case(
        "chlo.broadcast_polygamma",
        lambda n, x: scipy.special.polygamma(n.astype(int), x),
        BOTH,
        fixed([1.0, 2.0, 0.0, 1.0, 3.0]),
        COLUMN,
        wrt=[1],
    ),
    case("chlo.broadcast_complex", lambda x, y: x + 1j * y, of("c16", 4, 5), ROW, COLUMN),
    case(
        "chlo.broadcast_compare",
        np.less,
        boolean(4, 5),
        ROW,
        COLUMN,
        attributes="comparison_direction = #chlo<comparison_direction LT>",
    ),
    case("chlo.broadcast_select", np.where, BOTH, boolean(4, 1), ROW, f64()),
    case(
        "chlo.broadcast_add",
        lambda x, y: x[:, None] + y,
        BOTH,
        f64(4),
        BOTH,
        attributes="broadcast_dimensions = array<i64: 0>",
        suffix="-along",
    ),
    case(
        "chlo.constant",
        lambda: np.array([[1.5, -2.0], [0.0, 3.0]]),
        f64(2, 2),
        attributes="value = dense<[[1.5, -2.0], [0.0, 3.0]]> : tensor<2x2xf64>",
        differentiable=False,
    ),
    case(
        "chlo.constant_like",
        lambda x: x * 0 + 2.5,
        BOTH,
        BOTH,
        attributes="value = 2.5 : f64",
        differentiable=False,
    ),
    case(
        "chlo.ragged_dot",
        products_of_rows,
        f64(4, 2),
        *(f64(4, 3), f64(3, 3, 2), SIZES),
        attributes=ragged(0, "0"),
    ),
    case(
        "chlo.ragged_dot",
        products_of_groups,
        f64(3, 2, 5),
        *(f64(2, 4), f64(4, 5), SIZES),
        attributes=ragged(1, "").replace(
            "rhs_contracting_dimensions = [1]", "rhs_contracting_dimensions = [0]"
        ),
        suffix="-contracted",
    ),
    case(
        "stablehlo.broadcast",
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        f64(4, 2, 3),
        f64(2, 3),
        attributes="broadcast_sizes = array<i64: 4>",
    ),
    *(
        case(
            "stablehlo.einsum",
            lambda x, y, config=config: np.einsum(config, x, y),
            f64(*shape),
            *(f64(2, 3, 3), f64(3, 4, 2)),
            attributes=f'einsum_config = "{config}"',
            suffix=f"-{config}",
        )
        for config, shape in {
            "abc,cda->dab": (4, 2, 3),
            "abb,bcd->cb": (4, 3),
            "abc,def->a": (2,),
        }.items()
    ),
    case(
        "stablehlo.unary_einsum",
        lambda x: np.einsum("aba->b", x),
        f64(2),
        f64(3, 2, 3),
        attributes='einsum_config = "aba->b"',
    ),
    case(
        "stablehlo.torch_index_select",
        lambda x, index: x[:, [[2, 0], [1, 1]]],
        f64(2, 2, 2, 4),
        *(f64(2, 3, 4), fixed([[2, 0], [1, 1]], np.int32)),
        attributes="dim = 1 : i64, batch_dims = 0 : i64",
    ),
    case(
        "stablehlo.torch_index_select",
        lambda x, index: np.stack([x[0][:, [2, 0]], x[1][:, [1, 1]]]),
        f64(2, 4, 2),
        *(f64(2, 4, 3), fixed([[2, 0], [1, 1]], np.int32)),
        attributes="dim = 2 : i64, batch_dims = 1 : i64",
        suffix="-of-each",
    ),
]
NOT_DIFFERENTIABLE = {
    "chlo.broadcast_compare",
    "chlo.broadcast_next_after",
    "chlo.constant",
    "chlo.constant_like",
    *(f"chlo.broadcast_{name}" for name in OF_INTEGERS),
}
