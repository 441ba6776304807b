// Batching of sort: the dimension that is sorted is counted with the mapped axis.

// RUN: --pipeline "batch{func=sort size=3}"
func.func @sort(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }) : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
// CHECK:      func.func @sort.batch([[X:%\w+]]: tensor<3x5xf32>)
// CHECK-NEXT:   [[SORT:%\w+]] = "stablehlo.sort"([[X]]) <{dimension = 1 : i64, is_stable = true}> ({
// CHECK-NEXT:   ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT:     [[COMPARE:%\w+]] = stablehlo.compare LT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:     stablehlo.return [[COMPARE]] : tensor<i1>
// CHECK-NEXT:   }) : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT:   return [[SORT]] : tensor<3x5xf32>
