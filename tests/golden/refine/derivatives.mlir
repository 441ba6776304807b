// Derivatives and batches of functions with symbolic sizes have symbolic sizes: residuals, zeros and
// the axis of the lanes, too.

// RUN: --pipeline "vjp{func=main wrt=0},batch{func=main}"

func.func @main(%x: tensor<?xf32, #irax.sizes<"n">>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.sine %x : tensor<?xf32, #irax.sizes<"n">>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #irax.sizes<"n">>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK:      func.func private @main.bwd([[RESIDUAL:%\w+]]: tensor<?xf32, #irax.sizes<"n">>, [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[SPREAD:%\w+]] = "irax.broadcast_in_dim"([[CT]]) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<?xf32, #irax.sizes<"n">>
// CHECK-NEXT:   stablehlo.multiply
