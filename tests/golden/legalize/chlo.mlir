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

// All poles of digamma are nan.
func.func @digamma_at_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @digamma_at_zero
// CHECK:        [[POLE:%\w+]] = stablehlo.compare EQ, %arg0,
// CHECK:        [[Y:%\w+]] = chlo.digamma %arg0
// CHECK-NEXT:   stablehlo.select [[POLE]], {{%\w+}}, [[Y]]

// Sums of narrow floats are sums of float32, not rounded after each step.
func.func @sum(%x: tensor<64xf8E5M2>) -> tensor<f8E5M2> {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E5M2>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  return %0 : tensor<f8E5M2>
}
// CHECK:      func.func @sum
// CHECK:        %[[SUM:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
// CHECK:        stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<f8E5M2>
