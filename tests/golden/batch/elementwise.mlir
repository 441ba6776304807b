// Batching of elementwise ops: the same op, on operands whose mapped axes stand at one place.

// RUN: --pipeline "batch{func=add size=3}"
func.func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @add.batch([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[X]], [[Y]] : tensor<3x4xf32>
// CHECK-NEXT:   return [[ADD]] : tensor<3x4xf32>

// y is shared by all lanes: it is stretched; and what does not depend on x is done once
// RUN: --pipeline "batch{func=shared size=3 in_axes=0,None}"
func.func @shared(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %y : tensor<4xf32>
  %z = stablehlo.multiply %x, %0 : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @shared.batch([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[SINE]], dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[BROADCAST]] : tensor<3x4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<3x4xf32>

// The mapped axis of y, 1, goes to where x has it
// RUN: --pipeline "batch{func=axes size=3 in_axes=0,1}"
func.func @axes(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @axes.batch([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<4x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[Y]], dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[X]], [[TRANSPOSE]] : tensor<3x4xf32>
// CHECK-NEXT:   return [[ADD]] : tensor<3x4xf32>

// ... and stays where it is if all have it there; the result is asked for with the axis last
// RUN: --pipeline "batch{func=last size=3 in_axes=1 out_axes=1}"
func.func @last(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @last.batch([[X:%\w+]]: tensor<4x3xf32>, [[Y:%\w+]]: tensor<4x3xf32>)
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[X]], [[Y]] : tensor<4x3xf32>
// CHECK-NEXT:   return [[ADD]] : tensor<4x3xf32>
