// A slice that takes every other element cannot be fused into a reverse: a barrier parts them.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @read_of_slice(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.slice %x [0:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func @read_of_slice
// CHECK:        [[S:%\w+]] = stablehlo.slice
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[S]]
// CHECK-NEXT:   stablehlo.reverse [[B]], dims = [0]

// Whole rows one after the other need none.
func.func @rows(%x: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.slice %x [2:6, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
// CHECK:      func.func @rows
// CHECK-NOT:    optimization_barrier
// CHECK:        return
