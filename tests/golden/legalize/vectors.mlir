// A product of a large matrix and a vector is a sum of products. The vector's computation is kept
// out of it by a barrier, for else it would be repeated for each row.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @contraction_with_vector(%x: tensor<2048xf32>, %y: tensor<2048x1024xf32>) -> tensor<1024xf32> {
  %0 = stablehlo.tanh %x : tensor<2048xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [0] x [0] : (tensor<2048xf32>, tensor<2048x1024xf32>) -> tensor<1024xf32>
  return %1 : tensor<1024xf32>
}
// CHECK-LABEL: func.func @contraction_with_vector
// CHECK:         [[X:%\w+]] = stablehlo.tanh %arg0
// CHECK:         [[KEPT:%\w+]] = stablehlo.optimization_barrier [[X]]
// CHECK:         [[SPREAD:%\w+]] = stablehlo.broadcast_in_dim [[KEPT]], dims = [0] : (tensor<2048xf32>) -> tensor<2048x1024xf32>
// CHECK:         [[PRODUCTS:%\w+]] = stablehlo.multiply %arg1, [[SPREAD]]
// CHECK:         stablehlo.reduce([[PRODUCTS]] init: {{.*}}) applies stablehlo.add across dimensions = [0]

// Sums in bfloat16 are sums in float32, rounded once.
func.func @of_bfloat16(%x: tensor<200x300xbf16>, %y: tensor<300x1xbf16>) -> tensor<200x1xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<200x300xbf16>, tensor<300x1xbf16>) -> tensor<200x1xbf16>
  return %0 : tensor<200x1xbf16>
}
// CHECK-LABEL: func.func @of_bfloat16
// CHECK-DAG:     stablehlo.convert %arg0 : (tensor<200x300xbf16>) -> tensor<200x300xf32>
// CHECK:         stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [1] : (tensor<200x300xf32>
// CHECK:         stablehlo.convert {{.*}} : (tensor<200x1xf32>) -> tensor<200x1xbf16>
