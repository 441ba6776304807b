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
