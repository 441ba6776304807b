// IREE writes an interior pad without the gaps between its elements, into an array of its fill value.
// EXPECT: wrong
// SPEC: dynamic_update_slice: "`update[update_index]` if `0 <= update_index < shape(update)`", of
// SPEC: what pad gives.
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<5xf32>) -> tensor<12xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<12xf32>
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.pad %x, %c, low = [0], high = [0], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = stablehlo.dynamic_update_slice %zeros, %0, %i : (tensor<12xf32>, tensor<9xf32>, tensor<i32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}
