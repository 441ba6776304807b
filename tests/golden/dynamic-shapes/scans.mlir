// RUN: --pipeline "dynamic-shapes"

// A cumulative reduction along a size that is not known is a scan; backwards, of the reversed array.
func.func public @main(%x: tensor<?x3xf32, #irax.sizes<"n, 3">>) -> tensor<?x3xf32, #irax.sizes<"n, 3">> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "irax.reduce_window"(%x, %zero) <{base_dilations = array<i64: 1, 1>, padding = #irax.sizes<"0, n - 1, 0, 0">, window_dilations = array<i64: 1, 1>, window_dimensions = #irax.sizes<"n, 1">, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<?x3xf32, #irax.sizes<"n, 3">>, tensor<f32>) -> tensor<?x3xf32, #irax.sizes<"n, 3">>
  return %0 : tensor<?x3xf32, #irax.sizes<"n, 3">>
}

// CHECK:      [[X:%\w+]] = stablehlo.reverse {{.*}}, dims = [0] : tensor<?x3xf32>
// CHECK:      iree_linalg_ext.scan dimension(0) inclusive(true) ins([[X]]
// CHECK:        arith.addf
// CHECK:      stablehlo.reverse
