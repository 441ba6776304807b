// Other modules stay as they are.
// RUN: --pipeline "invariant-sums"

func.func @unmarked(%x: tensor<1x40xf32>, %w: tensor<40x3xf32>) -> tensor<1x3xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x40xf32>, tensor<40x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
// CHECK:      func.func @unmarked
// CHECK:        stablehlo.dot_general
// CHECK-NOT:    flow.dispatch
