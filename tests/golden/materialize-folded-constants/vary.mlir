// A constant that a reduction folds is read from an array.
// RUN: --pipeline "materialize-folded-constants"

// CHECK-LABEL: func.func @sum
// CHECK:         [[ONES:%\w+]] = arith.constant dense<1> : tensor<33xi64>
// CHECK:         linalg.generic {{.*}} ins(%{{\w+}}, [[ONES]] : tensor<33xi1>, tensor<33xi64>)
// CHECK-NEXT:    ^bb0(%{{\w+}}: i1, [[ONE:%\w+]]: i64, [[OUT:%\w+]]: i64):
// CHECK-NEXT:      arith.addi [[OUT]], [[ONE]] : i64
func.func @sum(%x: tensor<33xi1>, %out: tensor<i64>) -> tensor<i64> {
  %one = arith.constant 1 : i64
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<33xi1>) outs(%out : tensor<i64>) {
  ^bb0(%in: i1, %sum: i64):
    %1 = arith.addi %sum, %one : i64
    linalg.yield %1 : i64
  } -> tensor<i64>
  return %0 : tensor<i64>
}

// One that varies stays, and so does an elementwise operation.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     dense
func.func @others(%x: tensor<33xf32>, %out: tensor<f32>) -> (tensor<f32>, tensor<33xf32>) {
  %two = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<33xf32>) outs(%out : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %2 = arith.mulf %in, %two : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<33xf32>) {
  ^bb0(%own: f32):
    %2 = arith.addf %own, %two : f32
    linalg.yield %2 : f32
  } -> tensor<33xf32>
  return %0, %1 : tensor<f32>, tensor<33xf32>
}

// What a body uses from outside stays as it is.
// CHECK-LABEL: func.func @outside
// CHECK:         [[LOW:%\w+]] = arith.constant 3 : i64
// CHECK:         [[TWOS:%\w+]] = arith.constant dense<2> : tensor<33xi64>
// CHECK:         ^bb0(%{{\w+}}: i64, [[TWO:%\w+]]: i64, [[OUT:%\w+]]: i64):
// CHECK-NEXT:      [[NEXT:%\w+]] = arith.addi [[OUT]], [[TWO]] : i64
// CHECK-NEXT:      arith.maxsi [[NEXT]], [[LOW]] : i64
func.func @outside(%x: tensor<33xi64>, %out: tensor<i64>) -> tensor<i64> {
  %low = arith.constant 3 : i64
  %two = arith.constant 2 : i64
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<33xi64>) outs(%out : tensor<i64>) {
  ^bb0(%in: i64, %sum: i64):
    %1 = arith.addi %sum, %two : i64
    %2 = arith.maxsi %1, %low : i64
    linalg.yield %2 : i64
  } -> tensor<i64>
  return %0 : tensor<i64>
}
