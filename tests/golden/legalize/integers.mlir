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
