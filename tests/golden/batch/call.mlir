// Batching of calls: a function is batched once for each pattern of mapped axes, and called as it is
// where nothing is mapped.

// RUN: --pipeline "batch{func=main size=3 in_axes=0,None}"
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @f(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @f(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK:      func.func @main.batch([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[F:%\w+]] = call @f([[Y]], [[Y]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[F_BATCH:%\w+]] = call @f.batch([[X]], [[X]]) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[F_BATCH_1:%\w+]] = call @f.batch_1([[F_BATCH]], [[F]]) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   return [[F_BATCH_1]] : tensor<3x4xf32>
// CHECK:      func.func private @f.batch([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[Y]] : tensor<3x4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<3x4xf32>
// CHECK:      func.func private @f.batch_1([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[Y]], dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[BROADCAST]] : tensor<3x4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<3x4xf32>
