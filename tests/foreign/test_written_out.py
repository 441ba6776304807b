"""Functions that modules write out, read as such: values and derivatives against formulas."""

import numpy as np
import scipy.special

import irax
from irax_compiler.forms.reading import read_module

F, Z, B = "tensor<4xf64>", "tensor<4xcomplex<f64>>", "tensor<4xi1>"


def magnitude(back: float = 1e100, direction: str = "EQ") -> str:
    """The absolute value, with numbers from 1e150 on divided by 1e100, and multiplied by `back`."""
    return f"""
    func.func @main(%z: {Z}) -> {F} {{
      %inf = stablehlo.constant dense<0x7FF0000000000000> : {F}
      %limit = stablehlo.constant dense<1.0e150> : {F}
      %less = stablehlo.constant dense<1.0e-100> : {F}
      %more = stablehlo.constant dense<{back:e}> : {F}
      %one = stablehlo.constant dense<1.0> : {F}
      %re = stablehlo.real %z : ({Z}) -> {F}
      %im = stablehlo.imag %z : ({Z}) -> {F}
      %a = stablehlo.abs %re : {F}
      %b = stablehlo.abs %im : {F}
      %size = stablehlo.maximum %a, %b : {F}
      %large = stablehlo.compare GE, %size, %limit : ({F}, {F}) -> {B}
      %re.less = stablehlo.multiply %re, %less : {F}
      %im.less = stablehlo.multiply %im, %less : {F}
      %x = stablehlo.select %large, %re.less, %re : {B}, {F}
      %y = stablehlo.select %large, %im.less, %im : {B}, {F}
      %scale = stablehlo.select %large, %more, %one : {B}, {F}
      %xx = stablehlo.multiply %x, %x : {F}
      %yy = stablehlo.multiply %y, %y : {F}
      %sum = stablehlo.add %xx, %yy : {F}
      %root = stablehlo.sqrt %sum : {F}
      %length = stablehlo.multiply %root, %scale : {F}
      %c = stablehlo.compare {direction}, %a, %inf : ({F}, {F}) -> {B}
      %d = stablehlo.compare EQ, %b, %inf : ({F}, {F}) -> {B}
      %infinite = stablehlo.or %c, %d : {B}
      %r = stablehlo.select %infinite, %inf, %length : {B}, {F}
      return %r : {F}
    }}"""


def test_magnitudes():
    run = irax.ir.load(magnitude(), device="reference")
    z = np.array([0, 3 - 4j, 3e200 + 4e200j, complex(np.inf, np.nan)])
    with irax.enable_x64(True):
        value, moved = irax.jvp(run, (z,), (np.full(4, 1 + 2j),))
        slopes = irax.grad(lambda z: run(z).sum())(z[:3].repeat([2, 1, 1]))
    np.testing.assert_allclose(value, [0, 5, 5e200, np.inf], rtol=1e-15)
    np.testing.assert_allclose(moved[:3], [0, -1, 2.2], rtol=1e-15)
    np.testing.assert_allclose(slopes, [0, 0, 0.6 + 0.8j, 0.6 - 0.8j], rtol=1e-15)


def test_what_is_no_absolute_value_stays():
    assert "sqrt" not in str(read_module(magnitude()))
    for other in (magnitude(back=1e101), magnitude(direction="NE")):
        assert "sqrt" in str(read_module(other))


HYPOTENUSE = magnitude().replace(Z, F).replace("(%z: ", f"(%re: {F}, %im: ")
HYPOTENUSE = "\n".join(x for x in HYPOTENUSE.splitlines() if "real" not in x and "imag" not in x)


def test_choices_of_complex_numbers_are_read():
    run = irax.ir.load(
        f"""
    func.func @main(%z: {Z}) -> {Z} {{
      %none = stablehlo.constant dense<(0.0, 0.0)> : {Z}
      %zero = stablehlo.constant dense<0.0> : {F}
      %re = stablehlo.real %z : ({Z}) -> {F}
      %is = stablehlo.compare LT, %re, %zero : ({F}, {F}) -> {B}
      %im = stablehlo.compare LT, %zero, %re : ({F}, {F}) -> {B}
      %any = stablehlo.or %is, %im : {B}
      %r = stablehlo.select %any, %none, %z : {B}, {Z}
      return %r : {Z}
    }}""",
        device="reference",
    )
    z = np.array([0, 1j, 2 - 1j, -1])
    np.testing.assert_array_equal(run(z), np.where(z.real == 0, z, 0))


def test_hypotenuses():
    run = irax.ir.load(HYPOTENUSE, device="reference")
    x, y = np.array([0, 3, 3e200, 1e-170]), np.array([0, -4, 4e200, 0])
    with irax.enable_x64(True):
        value, moved = irax.jvp(run, (x, y), (np.ones(4), np.full(4, 2.0)))
    np.testing.assert_allclose(value, [0, 5, 5e200, 1e-170], rtol=1e-15)
    np.testing.assert_allclose(moved, [0, -1, 2.2, 1], rtol=1e-15)


CIRCULAR = f"""
    func.func @main(%z: {Z}) -> {Z} {{
      %zero = stablehlo.constant dense<0.0> : {F}
      %two = stablehlo.constant dense<2.0> : {F}
      %x = stablehlo.real %z : ({Z}) -> {F}
      %y = stablehlo.imag %z : ({Z}) -> {F}
      %none = stablehlo.compare EQ, %x, %zero : ({F}, {F}) -> {B}
      %sin = stablehlo.sine %x : {F}
      %cos = stablehlo.cosine %x : {F}
      %p = stablehlo.exponential_minus_one %y : {F}
      %minus = stablehlo.negate %y : {F}
      %q = stablehlo.exponential_minus_one %minus : {F}
      %difference = stablehlo.subtract %p, %q : {F}
      %sinh = stablehlo.divide %difference, %two : {F}
      %sum = stablehlo.add %p, %q : {F}
      %more = stablehlo.add %sum, %two : {F}
      %cosh = stablehlo.divide %more, %two : {F}
      %minus.sin = stablehlo.negate %sin : {F}
      %cos.re = stablehlo.multiply %cos, %cosh : {F}
      %cos.im = stablehlo.multiply %minus.sin, %sinh : {F}
      %sin.re = stablehlo.multiply %sin, %cosh : {F}
      %sin.im = stablehlo.multiply %cos, %sinh : {F}
      %a = stablehlo.complex RE, %zero.or.im : {Z}
      %b = stablehlo.complex RE, IM : {Z}
      %r = stablehlo.select %none, %a, %b : {B}, {Z}
      return %r : {Z}
    }}"""
COSINE = CIRCULAR.replace("RE, %zero.or.im", "%cos.re, %zero").replace("RE, IM", "%cos.re, %cos.im")
SINE = CIRCULAR.replace("RE, %zero.or.im", "%zero, %sin.im").replace("RE, IM", "%sin.re, %sin.im")


def test_sines_and_cosines_of_complex_numbers():
    z = np.array([0.3j, 0, 1 + 2j, -2])
    with irax.enable_x64(True):
        for text, function, slope in ((COSINE, np.cos, -np.sin(z)), (SINE, np.sin, np.cos(z))):
            run = irax.ir.load(text, device="reference")
            value, moved = irax.jvp(run, (z,), (np.ones(4, complex),))
            np.testing.assert_allclose(value, function(z), rtol=1e-14)
            np.testing.assert_allclose(moved, slope, rtol=1e-14)


def softplus(scale: str, unscale: str) -> str:
    """max(x, 0) + log(1 + exp(-scale |x|)) / scale."""
    return f"""
    func.func @main(%x: {F}) -> {F} {{
      %zero = stablehlo.constant dense<0.0> : {F}
      %scale = stablehlo.constant dense<{scale}> : {F}
      %unscale = stablehlo.constant dense<{unscale}> : {F}
      %positive = stablehlo.maximum %x, %zero : {F}
      %size = stablehlo.abs %x : {F}
      %minus = stablehlo.negate %size : {F}
      %scaled = stablehlo.multiply %scale, %minus : {F}
      %e = stablehlo.exponential %scaled : {F}
      %l = stablehlo.log_plus_one %e : {F}
      %rest = stablehlo.multiply %unscale, %l : {F}
      %r = stablehlo.add %positive, %rest : {F}
      return %r : {F}
    }}"""


def test_logarithms_of_sums():
    """The slope at 0 is 1/2, as everywhere the logistic function's value."""
    plain = softplus("1.0", "1.0").replace("exponential %scaled", "exponential %minus")
    product = softplus("-1.0", "1.0").replace("%scale, %minus", "%scale, %size")
    x = np.array([0, -1, 2.5, -0.0])
    with irax.enable_x64(True):
        for text, scale in ((plain, 1), (product, 1), (softplus("2.0", "0.5"), 2)):
            run = irax.ir.load(text, device="reference")
            np.testing.assert_allclose(run(x), np.logaddexp(0, scale * x) / scale, rtol=1e-14)
            slopes = irax.grad(lambda x, run=run: run(x).sum())(x)
            np.testing.assert_allclose(slopes, 1 / (1 + np.exp(-scale * x)), rtol=1e-14)


BY_NAME = f"""
func.func private @asinh.impl(%x: {F}) -> {F} {{
  %sign = stablehlo.sign %x : {F}
  %size = stablehlo.abs %x : {F}
  %square = stablehlo.multiply %x, %x : {F}
  %one = stablehlo.constant dense<1.0> : {F}
  %sum = stablehlo.add %square, %one : {F}
  %root = stablehlo.sqrt %sum : {F}
  %all = stablehlo.add %size, %root : {F}
  %log = stablehlo.log %all : {F}
  %r = stablehlo.multiply %sign, %log : {F}
  return %r : {F}
}}
func.func @main(%x: {F}) -> {F} {{
  %r = stablehlo.composite "chlo.asinh" %x {{decomposition = @asinh.impl, version = 1 : i32}}
      : ({F}) -> {F}
  return %r : {F}
}}"""


def test_composites_of_functions_that_irax_knows():
    """By its decomposition, the slope at 0 would be 0, since that has the sign of x as a factor."""
    run = irax.ir.load(BY_NAME, device="reference")
    x = np.array([0, 1e-9, -2, 30])
    with irax.enable_x64(True):
        value, moved = irax.jvp(run, (x,), (np.ones(4),))
    np.testing.assert_allclose(value, np.arcsinh(x), rtol=1e-14)
    np.testing.assert_allclose(moved, 1 / np.hypot(1, x), rtol=1e-14)


def odd(inside: str, result: str) -> str:
    """sign(x) times a function of |x|."""
    return f"""
    func.func @main(%x: {F}) -> {F} {{
      %one = stablehlo.constant dense<1.0> : {F}
      %sign = stablehlo.sign %x : {F}
      %size = stablehlo.abs %x : {F}
      {inside}
      %r = stablehlo.multiply %sign, {result} : {F}
      return %r : {F}
    }}"""


def test_odd_functions():
    x = np.array([0, 1e-9, -2, 30])
    run = irax.ir.load(odd(f"%f = stablehlo.log_plus_one %size : {F}", "%f"), device="reference")
    with irax.enable_x64(True):
        value, moved = irax.jvp(run, (x,), (np.ones(4),))
    np.testing.assert_allclose(value, np.sign(x) * np.log1p(abs(x)), rtol=1e-14)
    np.testing.assert_allclose(moved, 1 / (1 + abs(x)), rtol=1e-14)


def test_what_jumps_at_0_keeps_the_sign():
    for inside, result in ((f"%f = stablehlo.cosine %size : {F}", "%f"), ("", "%one")):
        assert "stablehlo.sign" in str(read_module(odd(inside, result)))


def test_rectifiers_of_jax():
    """Slopes of relu and relu6, in functions of these names, and that of `maximum` alone."""
    text = """
    func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
      %0 = call @relu_1(%x) : (tensor<5xf32>) -> tensor<5xf32>
      %1 = call @relu6(%x) : (tensor<5xf32>) -> tensor<5xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<5xf32>
      %2 = stablehlo.maximum %x, %zero : tensor<5xf32>
      return %0, %1, %2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    }
    func.func private @relu_1(%x: tensor<5xf32>) -> tensor<5xf32> {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %2 = stablehlo.maximum %x, %1 : tensor<5xf32>
      return %2 : tensor<5xf32>
    }
    func.func private @relu6(%x: tensor<5xf32>) -> tensor<5xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<5xf32>
      %six = stablehlo.constant dense<6.0> : tensor<5xf32>
      %0 = stablehlo.maximum %x, %zero : tensor<5xf32>
      %1 = stablehlo.minimum %0, %six : tensor<5xf32>
      return %1 : tensor<5xf32>
    }"""
    run = irax.ir.load(text, device="reference")
    x = np.array([-1, 0, 2, 6, np.nan], np.float32)
    expected = np.maximum(x, 0), np.minimum(np.maximum(x, 0), 6), np.maximum(x, 0)
    for found, value in zip(run(x), expected, strict=True):
        np.testing.assert_array_equal(found, value)
    slopes = [[0, 0, 1, 1], [0, 0, 1, 0], [0, 0.5, 1, 1]]
    for i, slope in enumerate(slopes):
        found = irax.grad(lambda x, i=i: run(x)[i][:4].sum())(x)
        np.testing.assert_array_equal(found[:4], slope)


def test_log_gamma_of_jax():
    """JAX's calls another function, `_lgamma_...`; a user's function of the name does not."""
    text = """
    func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
      %0 = call @lgamma_impl_2(%x) : (tensor<3xf64>) -> tensor<3xf64>
      return %0 : tensor<3xf64>
    }
    func.func private @lgamma_impl_2(%x: tensor<3xf64>) -> tensor<3xf64> {
      %0 = call @_lgamma_pos_small(%x) : (tensor<3xf64>) -> tensor<3xf64>
      return %0 : tensor<3xf64>
    }
    func.func private @_lgamma_pos_small(%x: tensor<3xf64>) -> tensor<3xf64> {
      %0 = stablehlo.bitcast_convert %x : (tensor<3xf64>) -> tensor<3xi64>
      %1 = stablehlo.bitcast_convert %0 : (tensor<3xi64>) -> tensor<3xf64>
      return %1 : tensor<3xf64>
    }"""
    run = irax.ir.load(text, device="reference")
    x = np.array([0.25, 1.5, 30.0])
    with irax.enable_x64(True):
        value, slopes = run(x), irax.grad(lambda x: run(x).sum())(x)
    np.testing.assert_allclose(value, scipy.special.gammaln(x), rtol=1e-14)
    np.testing.assert_allclose(slopes, scipy.special.digamma(x), rtol=1e-13)
    users = irax.ir.load(text.replace("_lgamma_pos", "pos"), device="reference")
    np.testing.assert_array_equal(users(x), x)
