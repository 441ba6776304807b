// RUN: --pipeline "reductions{workers=2}"

// A softmax is one kernel: it folds rows of 1000 elements twice, 62 vectors and half of one, and
// keeps the exponentials in the memory of the result.
func.func @main(%x: tensor<100x1000xf32>) -> tensor<100x1000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<100x1000xf32>, tensor<f32>) -> tensor<100xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<100xf32>) -> tensor<100x1000xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<100x1000xf32>
  %3 = stablehlo.exponential %2 : tensor<100x1000xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x1000xf32>, tensor<f32>) -> tensor<100xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<100xf32>) -> tensor<100x1000xf32>
  %6 = stablehlo.divide %3, %5 : tensor<100x1000xf32>
  return %6 : tensor<100x1000xf32>
}
// CHECK-LABEL: func.func @reduction(%arg0: !stream.binding, %arg1: !stream.binding)
// CHECK:         arith.maximumf {{.*}} : vector<16xf32>
// CHECK:         arith.constant 992 : index
// CHECK:         vector.maskedload
// CHECK:         math.exp {{.*}} : vector<16xf32>
// CHECK:         vector.store
// CHECK:         math.exp {{.*}} : vector<16xf32>
// CHECK:         vector.maskedstore
// CHECK-NOT:     math.exp
// CHECK:         arith.divf
// CHECK:       func.func @main(%arg0: tensor<100x1000xf32>)
// CHECK:         [[Y:%\w+]] = flow.dispatch @reduction::@reduction(%arg0) : (tensor<100x1000xf32>) -> tensor<100x1000xf32>
// CHECK-NEXT:    return [[Y]]

// Parts of a sum of everything are folded side by side, and then together with the init value.
func.func @sum(%x: tensor<500x1001xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.multiply %x, %x : tensor<500x1001xf32>
  %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<500x1001xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
// CHECK:       func.func @sum(
// CHECK:         [[PARTS:%\w+]] = flow.dispatch @reduction_1::@reduction_1(%arg0) : (tensor<500x1001xf32>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.reduce([[PARTS]] init: %arg1) applies stablehlo.add across dimensions = [0]

// Two reductions of one array are a kernel. A value that others use, too, is computed again if that
// takes no more reading.
func.func @moments(%x: tensor<100x1000xf32>, %m: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100x1000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<1.0e3> : tensor<100xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<100xf32>) -> tensor<100x1000xf32>
  %0 = stablehlo.subtract %x, %b : tensor<100x1000xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x1000xf32>, tensor<f32>) -> tensor<100xf32>
  %2 = stablehlo.divide %1, %n : tensor<100xf32>
  %3 = stablehlo.multiply %0, %0 : tensor<100x1000xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x1000xf32>, tensor<f32>) -> tensor<100xf32>
  return %2, %4, %0 : tensor<100xf32>, tensor<100xf32>, tensor<100x1000xf32>
}
// CHECK:       func.func @moments(
// CHECK:         [[D:%\w+]] = stablehlo.subtract %arg0
// CHECK:         [[R:%\w+]]:2 = flow.dispatch @reduction_2::@reduction_2(%arg0, %arg1) : (tensor<100x1000xf32>, tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>)
// CHECK-NEXT:    return [[R]]#0, [[R]]#1, [[D]]

// Slices of an array are read where they are.
func.func @neighbours(%x: tensor<100x1000xf32>) -> tensor<100xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:100, 1:1000] : (tensor<100x1000xf32>) -> tensor<100x999xf32>
  %1 = stablehlo.slice %x [0:100, 0:999] : (tensor<100x1000xf32>) -> tensor<100x999xf32>
  %2 = stablehlo.add %0, %1 : tensor<100x999xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x999xf32>, tensor<f32>) -> tensor<100xf32>
  return %3 : tensor<100xf32>
}
// CHECK:       func.func @neighbours(
// CHECK:         [[R:%\w+]] = flow.dispatch @reduction_3::@reduction_3(%arg0) : (tensor<100x1000xf32>) -> tensor<100xf32>
// CHECK-NEXT:    return [[R]]
