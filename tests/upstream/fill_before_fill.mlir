// IREE joins a fill with the one before it, which begins where it ends, and adds up their places.
// EXPECT: refused
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<1xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.add %x, %x : tensor<6xf32>
  %1 = stablehlo.dynamic_update_slice %0, %zero, %one : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  %2 = stablehlo.dynamic_update_slice %1, %zero, %first : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}
