// A function of CHLO is applied to scalars where sizes are not known.

// RUN: --pipeline "dynamic-forms"

func.func @main(%x: tensor<?xf32, #irax.sizes<"n">>, %r: tensor<4xf32>) -> (tensor<?xf32, #irax.sizes<"n">>, tensor<4xf32>) {
  %0 = chlo.erf_inv %x : tensor<?xf32, #irax.sizes<"n">> -> tensor<?xf32, #irax.sizes<"n">>
  %1 = chlo.erf_inv %r : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<?xf32, #irax.sizes<"n">>, tensor<4xf32>
}

// CHECK:      "stablehlo.map"(
// CHECK:        chlo.erf_inv {{.*}} : tensor<f32> -> tensor<f32>
// CHECK:      chlo.erf_inv {{.*}} : tensor<4xf32> -> tensor<4xf32>

// A product without free dimensions is a sum of products.
func.func @products(%x: tensor<?x3xf32, #irax.sizes<"n, 3">>, %y: tensor<3x?xf32, #irax.sizes<"3, n">>) -> tensor<3xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [1] x [0], contracting_dims = [0] x [1] : (tensor<?x3xf32, #irax.sizes<"n, 3">>, tensor<3x?xf32, #irax.sizes<"3, n">>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @products
// CHECK:         [[X:%\w+]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK:         [[P:%\w+]] = stablehlo.multiply [[X]], %arg1
// CHECK:         stablehlo.reduce([[P]] init: %cst) applies stablehlo.add across dimensions = [1]
