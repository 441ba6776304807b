// Exponentials of float64 are arithmetic on vectors; most of those of float32 are already.
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

func.func @exponential_minus_one_by_vectors(%x: tensor<4xf64>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %0 = stablehlo.exponential_minus_one %x : tensor<4xf64>
  %1 = stablehlo.exponential_minus_one %y : tensor<4xf32>
  return %0, %1 : tensor<4xf64>, tensor<4xf32>
}
// CHECK:      func.func @exponential_minus_one_by_vectors
// CHECK:        [[X:%\w+]] = "stablehlo.map"(%arg0)
// CHECK-NOT:      stablehlo.exponential_minus_one
// CHECK:          stablehlo.bitcast_convert
// CHECK:          stablehlo.return
// CHECK:        [[Y:%\w+]] = "stablehlo.map"(%arg1)
// CHECK-NOT:      stablehlo.exponential_minus_one
// CHECK:          stablehlo.bitcast_convert
// CHECK:          stablehlo.return
// CHECK:        return [[X]], [[Y]]

func.func @tanh_of_doubles(%x: tensor<4xf64>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %0 = stablehlo.tanh %x : tensor<4xf64>
  %1 = stablehlo.tanh %y : tensor<4xf32>
  return %0, %1 : tensor<4xf64>, tensor<4xf32>
}
// CHECK:      func.func @tanh_of_doubles
// CHECK:        [[X:%\w+]] = "stablehlo.map"(%arg0)
// CHECK-NOT:      stablehlo.tanh
// CHECK:          stablehlo.bitcast_convert
// CHECK:          stablehlo.return
// CHECK:        [[Y:%\w+]] = stablehlo.tanh %arg1 : tensor<4xf32>
// CHECK-NEXT:   return [[X]], [[Y]]

func.func @logistic_of_doubles(%x: tensor<4xf64>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %0 = stablehlo.logistic %x : tensor<4xf64>
  %1 = stablehlo.logistic %y : tensor<4xf32>
  return %0, %1 : tensor<4xf64>, tensor<4xf32>
}
// CHECK:      func.func @logistic_of_doubles
// CHECK:        [[X:%\w+]] = "stablehlo.map"(%arg0)
// CHECK-NOT:      stablehlo.logistic
// CHECK:          stablehlo.bitcast_convert
// CHECK:          stablehlo.return
// CHECK:        [[Y:%\w+]] = stablehlo.logistic %arg1 : tensor<4xf32>
// CHECK-NEXT:   return [[X]], [[Y]]

func.func @log_of_doubles(%x: tensor<4xf64>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %0 = stablehlo.log %x : tensor<4xf64>
  %1 = stablehlo.log %y : tensor<4xf32>
  return %0, %1 : tensor<4xf64>, tensor<4xf32>
}
// CHECK:      func.func @log_of_doubles
// CHECK:        [[X:%\w+]] = "stablehlo.map"(%arg0)
// CHECK-NOT:      stablehlo.log
// CHECK:          stablehlo.bitcast_convert
// CHECK:          stablehlo.return
// CHECK:        [[Y:%\w+]] = stablehlo.log %arg1 : tensor<4xf32>
// CHECK-NEXT:   return [[X]], [[Y]]
