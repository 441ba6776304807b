// IREE refuses to scatter to unsigned integers that a loop carries.
// EXPECT: refused
// INPUT: [1, 2]
func.func @main(%x: tensor<2xui32>) -> tensor<2xui32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %place = stablehlo.constant dense<1> : tensor<1x1xi32>
  %new = stablehlo.constant dense<7> : tensor<1xui32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xui32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = "stablehlo.scatter"(%a, %place, %new) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%b: tensor<ui32>, %c: tensor<ui32>):
      stablehlo.return %c : tensor<ui32>
    }) : (tensor<2xui32>, tensor<1x1xi32>, tensor<1xui32>) -> tensor<2xui32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<2xui32>
  }
  return %0#1 : tensor<2xui32>
}
