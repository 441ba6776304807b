// RUN: --pipeline "dynamic-shapes"

// Sizes are told of signed integers, and parts taken of these: other dialects than StableHLO have no
// unsigned ones.
func.func public @main(%x: tensor<?xui8, #irax.sizes<"n">>) -> (tensor<?xui8, #irax.sizes<"n - 1">>, tensor<ui8>) {
  %0 = "irax.slice"(%x) {limit_indices = #irax.sizes<"n">, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<?xui8, #irax.sizes<"n">>) -> tensor<?xui8, #irax.sizes<"n - 1">>
  %1 = "irax.dimension"() {size = #irax.size<"n">} : () -> tensor<i32>
  %2 = stablehlo.convert %1 : (tensor<i32>) -> tensor<ui8>
  return %0, %2 : tensor<?xui8, #irax.sizes<"n - 1">>, tensor<ui8>
}

// CHECK-LABEL: func.func public @main(%arg0: tensor<?xi8>) -> (tensor<?xui8>, tensor<ui8>)
// CHECK:         tensor.dim %arg0, %{{\w+}} : tensor<?xi8>
// CHECK:         [[X:%\w+]] = flow.tensor.tie_shape %arg0 : tensor<?xi8>
// CHECK:         [[PART:%\w+]] = tensor.extract_slice {{.*}} : tensor<?xi8> to tensor<?xi8>
// CHECK:         stablehlo.bitcast_convert [[PART]] : (tensor<?xi8>) -> tensor<?xui8>
// CHECK:         [[N:%\w+]] = tensor.from_elements
// CHECK:         [[OWN:%\w+]] = stablehlo.optimization_barrier [[N]]
// CHECK:         stablehlo.convert [[OWN]] : (tensor<i32>) -> tensor<ui8>
