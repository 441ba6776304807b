// The exponential of float64 is arithmetic on vectors; that of float32 is already.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @exponential_of_doubles(%x: tensor<4xf64>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %0 = stablehlo.exponential %x : tensor<4xf64>
  %1 = stablehlo.exponential %y : tensor<4xf32>
  return %0, %1 : tensor<4xf64>, tensor<4xf32>
}
// CHECK:      func.func @exponential_of_doubles
// CHECK:        [[X:%\w+]] = "stablehlo.map"(%arg0)
// CHECK-NOT:      stablehlo.exponential
// CHECK:          stablehlo.bitcast_convert
// CHECK:          stablehlo.return
// CHECK:        [[Y:%\w+]] = stablehlo.exponential %arg1 : tensor<4xf32>
// CHECK-NEXT:   return [[X]], [[Y]]
