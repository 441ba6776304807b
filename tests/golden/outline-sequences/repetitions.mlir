// RUN: --pipeline "outline-sequences{many=2 shortest=3}"

// Equal sequences of operations become calls of one function of scalars, which takes the values
// that they use, and returns those that others use. Other constants are other operations.
func.func @sequences(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %a = stablehlo.constant dense<3.0> : tensor<4xf32>
  %b = stablehlo.constant dense<4.0> : tensor<4xf32>
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = stablehlo.maximum %0, %two : tensor<4xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<4xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<4xf32>
  %4 = stablehlo.add %3, %a : tensor<4xf32>
  %5 = stablehlo.abs %y : tensor<4xf32>
  %6 = stablehlo.maximum %5, %two : tensor<4xf32>
  %7 = stablehlo.multiply %6, %6 : tensor<4xf32>
  %8 = stablehlo.subtract %5, %7 : tensor<4xf32>
  %9 = stablehlo.add %8, %b : tensor<4xf32>
  %10 = stablehlo.divide %4, %9 : tensor<4xf32>
  return %10 : tensor<4xf32>
}
// CHECK-LABEL: func.func @sequences(
// CHECK:         [[A:%\w+]] = stablehlo.custom_call @irax.formula(%arg0) {{.*}}@repeated}
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.add [[A]]
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.custom_call @irax.formula(%arg1) {{.*}}@repeated}
// CHECK-NEXT:    [[D:%\w+]] = stablehlo.add [[C]]
// CHECK-NEXT:    stablehlo.divide [[B]], [[D]]

// So do those on arrays that registers do not hold, ...
func.func @arrays(%x: tensor<999xf32>, %y: tensor<999xf32>) -> (tensor<999xf32>, tensor<999xf32>) {
  %0 = stablehlo.negate %x : tensor<999xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<999xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<999xf32>
  %3 = stablehlo.negate %y : tensor<999xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<999xf32>
  %5 = stablehlo.subtract %4, %3 : tensor<999xf32>
  return %2, %5 : tensor<999xf32>, tensor<999xf32>
}
// CHECK-LABEL: func.func @arrays(
// CHECK-NEXT:    [[A:%\w+]] = stablehlo.custom_call @irax.formula(%arg0) {{.*}}@repeated_1}
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.custom_call @irax.formula(%arg1) {{.*}}@repeated_1}
// CHECK-NEXT:    return [[A]], [[B]]

// ... unless operations between them divide the kernel. Those that are not elementwise remain.
func.func @others(%x: tensor<999xf32>, %y: tensor<3x3xf32>) -> (tensor<999xf32>, tensor<999xf32>, tensor<3x3xf32>) {
  %0 = stablehlo.negate %x : tensor<999xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<999xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<999xf32>
  %3 = stablehlo.reverse %x, dims = [0] : tensor<999xf32>
  %4 = stablehlo.negate %3 : tensor<999xf32>
  %5 = stablehlo.multiply %4, %4 : tensor<999xf32>
  %6 = stablehlo.subtract %5, %4 : tensor<999xf32>
  %7 = stablehlo.transpose %y, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %8 = stablehlo.negate %7 : tensor<3x3xf32>
  %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %10 = stablehlo.negate %9 : tensor<3x3xf32>
  return %2, %6, %10 : tensor<999xf32>, tensor<999xf32>, tensor<3x3xf32>
}
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     custom_call
// CHECK:         return

// CHECK:       func.func private @repeated([[X:%\w+]]: tensor<f32>) -> tensor<f32>
// CHECK:         [[Y:%\w+]] = stablehlo.abs [[X]]
// CHECK:         [[Z:%\w+]] = stablehlo.maximum [[Y]]
// CHECK:         [[W:%\w+]] = stablehlo.multiply [[Z]], [[Z]]
// CHECK:         [[V:%\w+]] = stablehlo.subtract [[Y]], [[W]]
// CHECK:         return [[V]]
