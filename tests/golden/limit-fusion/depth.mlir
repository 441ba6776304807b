// Long chains are cut, for all users of a value; what IREE does not fuse begins anew.
// RUN: --pipeline "limit-fusion{depth=2}"

// CHECK-LABEL: func.func @chain
// CHECK: [[A:%\w+]] = stablehlo.sine %arg0
// CHECK: [[B:%\w+]] = stablehlo.cosine [[A]]
// CHECK: [[CUT:%\w+]] = stablehlo.optimization_barrier [[B]]
// CHECK: [[C:%\w+]] = stablehlo.tanh [[CUT]]
// CHECK: stablehlo.add [[C]], [[CUT]]
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = stablehlo.sine %x : tensor<8xf32>
  %b = stablehlo.cosine %a : tensor<8xf32>
  %c = stablehlo.tanh %b : tensor<8xf32>
  %d = stablehlo.add %c, %b : tensor<8xf32>
  return %d : tensor<8xf32>
}

// CHECK-LABEL: func.func @products
// CHECK-NOT: stablehlo.optimization_barrier
func.func @products(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = stablehlo.sine %x : tensor<8x8xf32>
  %b = stablehlo.cosine %a : tensor<8x8xf32>
  %c = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = stablehlo.tanh %c : tensor<8x8xf32>
  %e = stablehlo.negate %d : tensor<8x8xf32>
  return %e : tensor<8x8xf32>
}
