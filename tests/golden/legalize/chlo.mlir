// Functions of 8-bit floats are those of float32.
// RUN: --pipeline "legalize-chlo"
func.func @float8_function(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %0 = chlo.erf %x : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
// CHECK:      func.func @float8_function
// CHECK-NEXT:   [[X:%\w+]] = stablehlo.convert %arg0 : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK-NEXT:   [[Y:%\w+]] = chlo.erf [[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:   stablehlo.convert [[Y]] : (tensor<4xf32>) -> tensor<4xf8E5M2>

// The byte of a neighbour is the next one or the one before.
func.func @neighbour(%x: tensor<4xf8E5M2>, %y: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %0 = chlo.next_after %x, %y : tensor<4xf8E5M2>, tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
// CHECK:      func.func @neighbour
// CHECK:        [[X:%\w+]] = stablehlo.bitcast_convert %arg0 : (tensor<4xf8E5M2>) -> tensor<4xui8>
// CHECK:        stablehlo.add [[X]], {{.*}} : tensor<4xui8>
// CHECK-NOT:    chlo.next_after
// CHECK:        stablehlo.bitcast_convert {{.*}} : (tensor<4xui8>) -> tensor<4xf8E5M2>

// The largest exponent is not that of infinities.
func.func @float8_of_less_precision(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.reduce_precision %x, format = e8m1 : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
// CHECK:      func.func @float8_of_less_precision
// CHECK-NEXT:   [[X:%\w+]] = stablehlo.convert %arg0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK-NEXT:   [[Y:%\w+]] = stablehlo.reduce_precision [[X]], format = e8m1 : tensor<4xf32>
// CHECK-NEXT:   stablehlo.convert [[Y]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>

// Large arguments have a series of their own, and a first term that overflows is the sum.
func.func @zeta_of_large_argument(%s: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.zeta %s, %q : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @zeta_of_large_argument
// CHECK:        [[LARGE:%\w+]] = stablehlo.compare GT, %arg1,
// CHECK:        stablehlo.power
// CHECK:        [[NEAR:%\w+]] = chlo.zeta %arg0, {{%\w+}}
// CHECK:        stablehlo.power %arg1,
// CHECK:        [[FOUND:%\w+]] = stablehlo.select {{%\w+}}, {{%\w+}}, [[NEAR]]
// CHECK:        [[ANY:%\w+]] = stablehlo.select [[LARGE]], {{%\w+}}, [[FOUND]]
// CHECK-NEXT:   stablehlo.select {{%\w+}}, [[ANY]], %arg1
func.func @polygamma_of_large_argument(%n: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.polygamma %n, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @polygamma_of_large_argument
// CHECK:        stablehlo.power
// CHECK:        [[NEAR:%\w+]] = chlo.polygamma %arg0, {{%\w+}}
// CHECK-NEXT:   stablehlo.select {{%\w+}}, {{%\w+}}, [[NEAR]]

// Zeros and poles by polynomials, far away by Stirling's series.
func.func @lgamma_by_pieces(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @lgamma_by_pieces
// CHECK-NOT:    chlo.lgamma
// CHECK:        stablehlo.log

// All poles of digamma are nan.
func.func @digamma_by_pieces(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @digamma_by_pieces
// CHECK-NOT:    chlo.digamma
// CHECK:        [[POLE:%\w+]] = stablehlo.and
// CHECK:        [[NAN:%\w+]] = stablehlo.constant dense<0x7FC00000>
// CHECK:        stablehlo.select {{.*}}, [[NAN]], {{.*}}

// Sums of narrow floats are sums of float32, not rounded after each step.
func.func @sum(%x: tensor<64xf8E5M2>) -> tensor<f8E5M2> {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E5M2>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  return %0 : tensor<f8E5M2>
}
// CHECK:      func.func @sum
// CHECK:        %[[SUM:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
// CHECK:        stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<f8E5M2>

func.func @complementary_error_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @complementary_error_function
// CHECK:       [[SQUARE:%\w+]] = stablehlo.multiply [[X:%\w+]], [[X]]
// CHECK:       [[EXACT:%\w+]] = stablehlo.multiply [[HIGH:%\w+]], [[HIGH]]
// CHECK:       stablehlo.subtract [[EXACT]], [[SQUARE]]
// CHECK:       stablehlo.exponential

func.func @hyperbolic_sine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @hyperbolic_sine
// CHECK:       [[SIZE:%\w+]] = stablehlo.abs %arg0
// CHECK:       [[LARGE:%\w+]] = stablehlo.compare GT, [[SIZE]]
// CHECK:       [[X:%\w+]] = stablehlo.select [[LARGE]], {{.*}}, [[SIZE]]
// CHECK:       stablehlo.exponential [[X]]

func.func @hyperbolic_cosine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @hyperbolic_cosine
// CHECK-NOT:   stablehlo.exponential_minus_one
// CHECK:       [[POWER:%\w+]] = stablehlo.exponential
// CHECK-NOT:   stablehlo.exponential_minus_one
// CHECK:       stablehlo.divide {{.*}}, [[POWER]]
// CHECK:       stablehlo.add
