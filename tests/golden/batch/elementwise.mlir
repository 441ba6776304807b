// Batching of elementwise ops: the same op, on operands whose mapped axes stand at one place.

// RUN: --pipeline "batch{func=add size=3}"
func.func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @add.batch([[X:%.+]]: tensor<3x4xf32>, [[Y:%.+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[ADD:%.+]] = stablehlo.add [[X]], [[Y]]
// CHECK-NEXT:   return [[ADD]]

// y is shared by all lanes: it is stretched; and what does not depend on x is done once
// RUN: --pipeline "batch{func=shared size=3 in_axes=0,None}"
func.func @shared(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %y : tensor<4xf32>
  %z = stablehlo.multiply %x, %0 : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @shared.batch([[X:%.+]]: tensor<3x4xf32>, [[Y:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%.+]] = stablehlo.sine [[Y]]
// CHECK-NEXT:   [[BROADCAST:%.+]] = stablehlo.broadcast_in_dim [[SINE]], dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[MULTIPLY:%.+]] = stablehlo.multiply [[X]], [[BROADCAST]]
// CHECK-NEXT:   return [[MULTIPLY]]

// The mapped axis of y, 1, goes to where x has it
// RUN: --pipeline "batch{func=axes size=3 in_axes=0,1}"
func.func @axes(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @axes.batch([[X:%.+]]: tensor<3x4xf32>, [[Y:%.+]]: tensor<4x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%.+]] = stablehlo.transpose [[Y]], dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[ADD:%.+]] = stablehlo.add [[X]], [[TRANSPOSE]]
// CHECK-NEXT:   return [[ADD]]

// ... and stays where it is if all have it there; the result is asked for with the axis last
// RUN: --pipeline "batch{func=last size=3 in_axes=1 out_axes=1}"
func.func @last(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @last.batch([[X:%.+]]: tensor<4x3xf32>, [[Y:%.+]]: tensor<4x3xf32>)
// CHECK-NEXT:   [[ADD:%.+]] = stablehlo.add [[X]], [[Y]]
// CHECK-NEXT:   return [[ADD]]
