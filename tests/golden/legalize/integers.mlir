// A sum of booleans is "or".
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @add_of_booleans(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %0 = stablehlo.add %x, %y : tensor<4xi1>
  return %0 : tensor<4xi1>
}
// CHECK:      func.func @add_of_booleans([[X:%\w+]]: tensor<4xi1>, [[Y:%\w+]]: tensor<4xi1>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.or [[X]], [[Y]]
// CHECK-NEXT:   return [[R]]

// Also in a reduction.
func.func @sum_of_booleans(%x: tensor<4xi1>) -> tensor<i1> {
  %c = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK:      func.func @sum_of_booleans
// CHECK:        applies stablehlo.or across dimensions = [0]

// The same bits, as signed integers, can be reversed.
func.func @reverse_of_unsigned(%x: tensor<4xui32>) -> tensor<4xui32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<4xui32>
  return %0 : tensor<4xui32>
}
// CHECK:      func.func @reverse_of_unsigned([[X:%\w+]]: tensor<4xui32>
// CHECK-NEXT:   [[SIGNED:%\w+]] = stablehlo.bitcast_convert [[X]] : (tensor<4xui32>) -> tensor<4xi32>
// CHECK-NEXT:   [[REVERSED:%\w+]] = stablehlo.reverse [[SIGNED]], dims = [0]
// CHECK-NEXT:   stablehlo.bitcast_convert [[REVERSED]] : (tensor<4xi32>) -> tensor<4xui32>

// What a loop carries is read as signed and unsigned again before it is scattered to.
func.func @scatter_of_unsigned_carry(%x: tensor<4xui32>, %u: tensor<4xui32>, %n: tensor<i32>) -> tensor<4xui32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %places = stablehlo.constant dense<[[1], [3], [0], [2]]> : tensor<4x1xi32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4xui32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = "stablehlo.scatter"(%a, %places, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%b: tensor<ui32>, %c: tensor<ui32>):
      stablehlo.return %c : tensor<ui32>
    }) : (tensor<4xui32>, tensor<4x1xi32>, tensor<4xui32>) -> tensor<4xui32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4xui32>
  }
  return %0#1 : tensor<4xui32>
}
// CHECK:      func.func @scatter_of_unsigned_carry
// CHECK:        stablehlo.while({{.*}}, [[A:%\w+]] = {{%\w+}})
// CHECK:          [[SIGNED:%\w+]] = stablehlo.bitcast_convert [[A]] : (tensor<4xui32>) -> tensor<4xi32>
// CHECK:          [[AGAIN:%\w+]] = stablehlo.bitcast_convert [[SIGNED]] : (tensor<4xi32>) -> tensor<4xui32>
// CHECK:          "stablehlo.scatter"([[AGAIN]]
