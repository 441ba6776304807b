// Rows of unknown size are sorted by merging: a loop over the width of the runs, and in it one that
// looks for the number of elements of the first run that come before an element of the result.

// RUN: --pipeline "dynamic-forms"

func.func @main(%x: tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">>
  return %0 : tensor<?xf32, #irax.sizes<"n">>
}

// CHECK-LABEL: func.func @main
// CHECK:         [[LENGTH:%\w+]] = "irax.dimension"()
// CHECK:         stablehlo.while([[WIDTH:%\w+]] = {{.*}}) : tensor<i32>, tensor<?xi32
// CHECK:           stablehlo.compare LT, [[WIDTH]], [[LENGTH]]
// CHECK:           stablehlo.while(
// CHECK:             compare LT, {{.*}} TOTALORDER
// CHECK:         "stablehlo.gather"(%arg0,
// CHECK-NOT:     stablehlo.sort

// Rows of known size stay.
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @known
// CHECK:         stablehlo.sort
