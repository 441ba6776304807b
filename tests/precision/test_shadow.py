"""Shadow runs and reports: what they follow, and how they are told."""

import mpmath
import numpy as np
import pytest
import scipy.linalg
from tests.precision.losing_programs import DATA, quadratic, variance

import irax
import irax.numpy as jnp
from irax_compiler import api
from irax_compiler.precision import shadow
from irax_compiler.precision.report import precision_report
from irax_compiler.precision.wide import Decimals, Doubles

f32 = np.float32


def test_sum_of_costs_is_the_error():
    """Own errors, to first order, sum up to the error of the result."""
    report = irax.precision(variance)(DATA)
    signed = sum(line.costs.own for line in report.lines)
    assert 0.9 < signed < 4  # these are sizes, of which some cancel


LARGEST = """
func.func private @before(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @main(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<5xi32>
  %c = stablehlo.constant dense<-1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %c) {
    backend_config = "", called_computations = [@before], mhlo.backend_config = {
      aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32,
      reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64
    }
  } : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
}"""


def test_calls_that_name_a_function():
    """An op by itself lacks the function that a custom call names."""
    run = irax.ir.load(LARGEST, device="reference")
    rows = np.random.default_rng(0).normal(size=5).astype(f32)
    report = irax.precision(lambda x: jnp.sin(run(jnp.exp(x))[0]).sum())(rows)
    assert report.digits > 5


def test_iterations_of_a_loop():
    def logistic_map(x):
        return irax.lax.fori_loop(0, 40, lambda _, x: 3.9 * x * (1 - x), x)

    line = irax.precision(logistic_map)(f32(0.3)).lines[0]
    errors = line.costs.by_turn
    assert sorted(errors) == list(range(40))
    assert errors[0] < 1e-6 < 1e-4 < errors[39]
    assert any("error grows from" in note for note in line.notes())


@pytest.mark.parametrize("reverse", [False, True])
def test_loops_over_rows_are_as_their_steps_one_by_one(reverse):
    rows = np.random.default_rng(0).normal(size=(5, 3)).astype(f32)
    numbers = np.arange(5, dtype=np.int32)

    def step(carry, row):
        x, n = row
        total = carry[0] * 0.9 + jnp.sin(x) * n
        return (total, carry[1] + n), (total**2 - 1, n)

    def scanned(rows):
        start = (jnp.ones(3, f32), np.int32(0))
        (last, _), (ys, _) = irax.lax.scan(step, start, (rows, numbers), reverse=reverse)
        return last, ys

    def unrolled(rows):
        carry, ys = (jnp.ones(3, f32), np.int32(0)), [None] * 5
        for i in reversed(range(5)) if reverse else range(5):
            carry, (ys[i], _) = step(carry, (rows[i], numbers[i]))
        return carry[0], jnp.stack(ys)

    one, other = irax.precision(scanned)(rows), irax.precision(unrolled)(rows)
    for x, y in zip(one.results, other.results, strict=True):
        assert (x.index, x.wide) == (y.index, y.wide)
        assert x.digits == pytest.approx(y.digits, abs=1e-6)
        assert x.possible == pytest.approx(y.possible, abs=1e-6)


@pytest.mark.parametrize(
    ("function", "first"),
    [
        (irax.jit(quadratic), 1),
        (irax.vmap(quadratic, in_axes=(0, None, None)), [1, 2]),
        (irax.grad(quadratic), 1),
        (irax.checkpoint(quadratic), 1),
        (irax.jit(irax.vmap(irax.grad(quadratic), in_axes=(0, None, None))), [1, 2]),
    ],
)
def test_transformed_functions(function, first):
    report = irax.precision(function)(f32(first), f32(5e3), f32(1))
    assert not report.holds
    assert report.lines[0].frame.file.endswith("losing_programs.py")


def test_branches_that_go_another_way():
    def f(x):
        total = x + f32(1e-9)
        return jnp.where(total > 1, total * 2, -total)

    report = irax.precision(f)(f32(1))
    (line,) = (line for line in report.lines if line.decisions)
    assert "total > 1" in line.text
    assert "1 decision that the wider run takes otherwise" in line.notes()


def test_sorts_that_go_another_way():
    report = irax.precision(lambda x: jnp.sort(x + 1e8 - 1e8))(f32([3, 1, 2]))
    assert any(line.decisions for line in report.lines)


def test_argument_that_is_returned_holds():
    report = irax.precision(lambda x, n: (x, n, n + 1))(f32([1, 2]), 3)
    assert report.holds
    assert [r.number for r in report.results] == [0]
    assert irax.precision(lambda n: n + 1)(3).digits == np.inf


def test_compiled_result_is_judged():
    report = irax.precision(quadratic, compiled=True)(f32(1), f32(5e3), f32(1))
    assert report.results[0].compiled == pytest.approx(0, abs=1)


def test_evaluator_is_as_before_within():
    """The narrow run has the evaluator's results."""
    module = irax.make_ir(irax.grad(lambda x: jnp.sum(jnp.sin(x) ** 2)))(DATA)
    (wanted,) = api.evaluate(module.module, module.func, [DATA])
    (result,) = shadow.run(module.module, module.func, [DATA]).results
    np.testing.assert_array_equal(result.narrow, wanted)


@pytest.mark.parametrize(
    "name",
    [
        *("sin", "cos", "tan", "exp", "expm1", "tanh", "log", "log1p", "sqrt", "cbrt", "arctan"),
        *("square", "reciprocal", "sinh", "cosh", "exp2", "log2", "arctan2", "power"),
    ],
)
def test_decimal_functions(name):
    """Decimal numbers agree with float64 to its digits, on which nothing of theirs depends."""
    function = getattr(jnp, name)
    arguments = [f32([0.3, 1.7, 2.9, 12.5])] * (2 if name in ("arctan2", "power") else 1)
    ir = irax.make_ir(function)(*arguments)
    (doubles,) = shadow.run(ir.module, ir.func, arguments, Doubles()).results
    (decimals,) = shadow.run(ir.module, ir.func, arguments, Decimals()).results
    assert decimals.wide.dtype == object
    with Decimals().context():
        lowered = Decimals().lowered(decimals.wide)
    np.testing.assert_allclose(lowered, doubles.wide, rtol=1e-14)


HILBERT = (1 / (np.arange(6)[:, None] + np.arange(6) + 1)).astype(f32)


@pytest.mark.parametrize(
    ("function", "routine"),
    [
        (jnp.linalg.inv, lambda a: scipy.linalg.lapack.sgesv(a, np.eye(6, dtype=f32))[2]),
        (
            lambda a: jnp.linalg.solve(a, np.ones(6, a.dtype)),
            lambda a: scipy.linalg.lapack.sgesv(a, np.ones(6, f32))[2],
        ),
        (jnp.linalg.cholesky, lambda a: scipy.linalg.lapack.spotrf(a, lower=1, clean=1)[0]),
        (lambda a: jnp.linalg.eigh(a)[0][:1], lambda a: scipy.linalg.lapack.ssyevd(a)[0][:1]),
    ],
)
def test_matrices_are_factored_in_their_own_precision(function, routine):
    """NumPy factors float32 in float64, and compiled programs do not."""
    report = irax.precision(function)(HILBERT)
    (result,) = report.results
    with irax.enable_x64():
        exact = np.asarray(function(HILBERT.astype(np.float64)))
    found = routine(HILBERT).astype(np.float64)
    scale = np.maximum(np.abs(exact), np.sqrt(np.mean(exact**2)))
    digits = np.min(-np.log10(np.abs(found - exact) / scale + 2**-24))
    assert result.digits == pytest.approx(digits, abs=1.6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("sinh", x) for x in (1e-9, -3.5)),
        *(("cosh", x) for x in (0.5, -20)),
        *(("asinh", x) for x in (1e-12, -7)),
        *(("acosh", x) for x in (1 + 1e-9, 50)),
        *(("atanh", x) for x in (1e-9, -0.999)),
        *(("asin", x) for x in (0.3, -1)),
        *(("acos", x) for x in (0.3, 1 - 1e-9)),
        *(("atan", x) for x in (0.3, -1e9)),
        *(("erf", x) for x in (1e-9, -2.5, 50)),
        *(("erfc", x) for x in (0.1, -2.5, 26)),
    ],
)
def test_decimal_functions_have_many_digits(name, value):
    function = getattr(irax.lax, name)
    with irax.enable_x64():
        ir = irax.make_ir(function)(np.float64(value))
    run = shadow.run(ir.module, ir.func, [np.asarray(value, np.float64)])
    (result,) = run.results
    with mpmath.workdps(150):
        exact = getattr(mpmath, name)(mpmath.mpf(value))
        found = mpmath.mpf(str(result.wide[()]))
        assert abs(found - exact) <= abs(exact) * mpmath.mpf(10) ** -85
    assert not run.unknown


def test_what_has_no_wider_form_is_told():
    """Fourier transforms of float64 are not done in more digits."""
    with irax.enable_x64():
        report = irax.precision(jnp.fft.rfft)(np.arange(5.0))
        others = irax.precision(lambda x: jnp.cumsum(jnp.convolve(x, x)).at[0].add(x[1]))
        assert others(np.arange(5.0) + 0.1).unknown == ()
    assert "fft" in report.unknown
    assert "not judged, counted as exact: " in str(report)


def test_systems_of_float64():
    matrix = 1 / (np.arange(9)[:, None] + np.arange(9) + 1.0)
    with irax.enable_x64():
        report = irax.precision(jnp.linalg.solve)(matrix, matrix.sum(1))
    condition = np.linalg.cond(matrix)
    assert report.digits == pytest.approx(16 - np.log10(condition), abs=2)


def test_numbers_that_are_not_finite_are_told():
    report = irax.precision(lambda x: jnp.log(x))(f32([-1, 1, 0]))
    assert report.results[0].not_finite == 2
    assert "2 of its elements are not finite" in str(report)


def test_modules():
    module = api.parse("""
      func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %0 = stablehlo.add %x, %one : tensor<f32>
        %1 = stablehlo.log %0 : tensor<f32>
        return %1 : tensor<f32>
      }""")
    report = precision_report(module, "main", [np.asarray(f32(1e-6))])
    assert not report.holds
    assert "log amplifies errors" in str(report)


def test_traced_arguments_have_no_digits():
    with pytest.raises(irax.errors.ConcretizationTypeError, match="outside of jit, grad and vmap"):
        irax.jit(lambda x: irax.precision(jnp.sin)(x))(1.0)
    with pytest.raises(TypeError, match="expected a function, got 3"):
        irax.precision(3)


def test_effects_are_done_once(capsys):
    """Callbacks run for the narrow numbers, and their results count as exact."""
    report = irax.precision(lambda x: (irax.debug.print("{}", x), 2 * x)[1])(f32(1))
    assert report.holds
    assert report.unknown == ()
    assert capsys.readouterr().out == "1.0\n"


def test_results_of_callbacks_are_not_judged():
    like = irax.ShapeDtypeStruct((), f32)
    report = irax.precision(lambda x: irax.pure_callback(np.sin, like, x) + 1)(f32(1))
    assert report.unknown == ("callback",)


def test_wide_sines_have_more_digits_than_float32_near_their_zeros():
    numbers = [np.arange(-500, 500) * (np.pi / 2), 10.0 ** np.arange(-30, 9, 0.05)]
    x = np.concatenate(numbers).astype(np.float32)
    assert x.size >= 1024  # fewer are NumPy's
    for function, exact in ((jnp.sin, mpmath.sin), (jnp.cos, mpmath.cos)):
        ir = irax.make_ir(function)(x)
        (result,) = shadow.run(ir.module, ir.func, [x]).results
        with mpmath.workdps(40):
            true = np.array([exact(mpmath.mpf(float(v))) for v in x], object)
            far = [
                abs((mpmath.mpf(v) - t) / t) if t else abs(v)
                for v, t in zip(result.wide, true, strict=True)
            ]
        assert max(far) < 2.0**-42


def test_complex128_is_not_judged():
    with irax.enable_x64():
        report = irax.precision(lambda z: z * z - 1)(np.complex128(1 + 1e-4j))
    assert set(report.unknown) == {"multiply", "subtract"}
    assert "not judged, counted as exact" in str(report)


def test_roots_that_cancel_in_float64_too():
    """b * b - 4 * a * c is b * b in float64 as well: both runs give 0."""

    def root(a, b, c):
        return (-b + jnp.sqrt(b * b - 4 * a * c)) / (2 * a)

    report = irax.precision(root)(*map(np.float32, (-2e-5, 38420, 2e-5)))
    assert (report.holds, report.digits) == (False, 0)
    assert report.results[0].wide == pytest.approx(-2e-5 / 38420, rel=1e-5)


NEAR = (100 + 1e-3 * np.random.default_rng(0).normal(size=100)).astype(f32)
"""Numbers whose variance has no digits in float32, and six in float64."""


def muller(steps):
    """Muller's recurrence, which tends to 5, and in all floats to 100: float64's at step 20, and
    double-double numbers' at step 30.
    """

    def f(x, y):
        for _ in range(steps):
            x, y = y, 108 - (815 - 1500 / x) / y
        return y

    return f


@pytest.mark.parametrize(
    "function, arguments, beside, true",
    [
        (variance, [NEAR], "double-double numbers", np.var(NEAR.astype(np.float64))),
        (muller(40), [f32(4), f32(4.25)], Decimals.name, (3**42 + 5**42) / (3**41 + 5**41)),
    ],
    ids=["variance", "muller"],
)
def test_decimal_numbers_where_others_do_not_suffice(function, arguments, beside, true):
    report = irax.precision(function)(*arguments)
    assert f"beside a run in {beside}" in str(report)
    np.testing.assert_allclose(report.results[0].wide, true, rtol=1e-12)
    assert report.digits < 2


def test_overflow_in_float64_too():
    def probability(s):
        p = 1 / (1 + jnp.exp(-s))
        return p**0.01 / (1 - p)

    report = irax.precision(probability)(np.float32(-1000))
    assert (report.holds, report.digits) == (False, 0)
    assert any("overflow" in note for note in report.lines[0].notes())
    assert irax.precision(lambda x: jnp.log(x - x))(np.float32(1)).holds
