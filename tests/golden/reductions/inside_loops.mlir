// RUN: --pipeline "reductions{workers=1}"

// Reductions in the body of a loop of the dialect scf, which the pass lower-counted-loops makes, are kernels too.

// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: flow.dispatch @reduction
// CHECK-NOT: stablehlo.reduce
// CHECK: scf.yield
func.func @rows(%x: tensor<1000x1000xf32>, %v: tensor<1000xf32>) -> tensor<1000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%carry = %v) -> (tensor<1000xf32>) {
    %1 = stablehlo.broadcast_in_dim %carry, dims = [1] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
    %2 = stablehlo.multiply %x, %1 : tensor<1000x1000xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1]
       : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
    scf.yield %3 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}
