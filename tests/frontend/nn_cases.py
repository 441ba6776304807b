"""Lines for irax.nn, as in `numpy_cases.py`: against formulas in NumPy and SciPy."""

import numpy as np
import scipy.special
from tests.frontend.numpy_operands import B, S, Table

_nn = Table("nn", scipy.special)
case = _nn.case


def _expit(x):
    return scipy.special.expit(x)


def _standardized(x, axis):
    spread = np.sqrt(x.var(axis, keepdims=True) + 1e-5)
    return (x - x.mean(axis, keepdims=True)) / spread


def _some(x, where):
    parts = np.where(where, np.exp(x), 0)
    return parts / parts.sum(-1, keepdims=True)


_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
for shape in ((), (2, 3), (0, 2)):
    x = S(*shape)
    case("relu", x, reference=lambda x: np.maximum(x, 0))
    case("relu6", x, reference=lambda x: np.clip(x, 0, 6))
    case("sigmoid", x, reference=_expit, loose=4)
    case("silu", x, reference=lambda x: x * _expit(x), loose=4)
    case("swish", x, reference=lambda x: x * _expit(x), loose=4)
    case("tanh", x, reference=np.tanh, loose=4)
    case("identity", x, reference=lambda x: x)
    case("softplus", x, reference=lambda x: np.logaddexp(x, 0), loose=4)
    case("log_sigmoid", x, reference=lambda x: -np.logaddexp(-x, 0), loose=4)
    case("soft_sign", x, reference=lambda x: x / (1 + abs(x)))
    case("elu", x, reference=lambda x: np.where(x > 0, x, np.expm1(x)), loose=4)
    case("celu", x, 2.0, reference=lambda x, a: np.where(x > 0, x, a * np.expm1(x / a)), loose=4)
    case(
        *("selu", x),
        reference=lambda x: _SCALE * np.where(x > 0, x, _ALPHA * np.expm1(x)),
        loose=4,
    )
    case("leaky_relu", x, 0.1, reference=lambda x, s: np.where(x > 0, x, s * x))
    case("hard_tanh", x, reference=lambda x: np.clip(x, -1, 1))
    case("hard_sigmoid", x, reference=lambda x: np.clip(x + 3, 0, 6) / 6, loose=2)
    case("hard_silu", x, reference=lambda x: x * np.clip(x + 3, 0, 6) / 6, loose=2)
    case("hard_swish", x, reference=lambda x: x * np.clip(x + 3, 0, 6) / 6, loose=2)
    case("mish", x, reference=lambda x: x * np.tanh(np.logaddexp(x, 0)), loose=4)
    case("squareplus", x, reference=lambda x: (x + np.sqrt(x * x + 4)) / 2, loose=4)
    case(
        *("sparse_plus", x),
        reference=lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)),
        loose=4,
    )
    case("sparse_sigmoid", x, reference=lambda x: np.clip((x + 1) / 2, 0, 1))
    case(
        *("gelu", x),
        approximate=False,
        reference=lambda x, approximate: x * scipy.special.ndtr(x),
        loose=9,
    )
    case(
        *("gelu", x),
        reference=lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        loose=9,
    )
    case(
        *("log1mexp", S(*shape, low=0.1)),
        reference=lambda x: np.log(-np.expm1(-x)),
        loose=9,
    )
for axis in (-1, 0):
    case("softmax", S(3, 4), axis, reference=scipy.special.softmax, loose=4)
    case("log_softmax", S(3, 4), axis, reference=scipy.special.log_softmax, loose=4)
    case("logsumexp", S(3, 4), axis, loose=4)
    case(
        *("logmeanexp", S(3, 4), axis),
        reference=lambda x, axis: np.log(np.exp(x).mean(axis)),
        loose=4,
    )
    case("standardize", S(3, 4), axis, reference=_standardized, loose=20)
    case(
        *("glu", S(4, 6), axis),
        reference=lambda x, a: np.split(x, 2, a)[0] * _expit(np.split(x, 2, a)[1]),
        loose=4,
    )
case("softmax", S(3, 4), where=B(3, 4), reference=_some, loose=4, smooth=False)
case("one_hot", np.int32([0, 2, 5, -1]), 3, reference=lambda i, n: i[:, None] == np.arange(n))
