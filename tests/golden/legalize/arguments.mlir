// IREE would update an argument in place: it is chosen, element by element, into fresh memory by a
// condition that always holds.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @update_of_argument(%x: tensor<8x4xf32>, %u: tensor<2x4xf32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// CHECK:      func.func @update_of_argument([[X:%\w+]]: tensor<8x4xf32>, [[U:%\w+]]: tensor<2x4xf32>
// CHECK:        [[ALWAYS:%\w+]] = stablehlo.compare GE,
// CHECK:        [[FRESH:%\w+]] = stablehlo.select [[ALWAYS]], [[X]],
// CHECK:        stablehlo.dynamic_update_slice [[FRESH]], [[U]]
