// One element, taken as a slice and reshaped, cannot be fused into two users.
// EXPECT: right
// INPUT: [1.0, 2.0, 3.0]
// INPUT: [4.0]
// INPUT: [2]
func.func @main(%x: tensor<6xf32>, %y: tensor<5x6xf32>, %i: tensor<i32>) -> (tensor<5x6xf32>, tensor<1x1xf32>) {
  %0 = stablehlo.slice %x [2:3] : (tensor<6xf32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<1x1xf32>
  %2 = stablehlo.dynamic_update_slice %y, %1, %i, %i : (tensor<5x6xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
  %3 = stablehlo.negate %1 : tensor<1x1xf32>
  return %2, %3 : tensor<5x6xf32>, tensor<1x1xf32>
}
