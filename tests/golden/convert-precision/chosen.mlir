// RUN: --pipeline "convert-precision{dtype=f16 only=1,2}"

// The first operation stays as it is.
func.func @chosen(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @chosen(
// CHECK-NEXT:    [[A:%\w+]] = stablehlo.sine %arg0 : tensor<4xf32>
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.convert [[A]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    [[D:%\w+]] = stablehlo.add [[B]], [[C]] : tensor<4xf16>
// CHECK-NEXT:    [[E:%\w+]] = stablehlo.convert [[D]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT:    return [[E]]

// Operations in branches have numbers, too; those on integers have none.
func.func @inside(%p: tensor<i1>, %x: tensor<f64>, %n: tensor<i32>) -> (tensor<f64>, tensor<i32>) {
  %0 = stablehlo.add %n, %n : tensor<i32>
  %1 = "stablehlo.if"(%p) ({
    %2 = stablehlo.sine %x : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }, {
    stablehlo.return %x : tensor<f64>
  }) : (tensor<i1>) -> tensor<f64>
  return %1, %0 : tensor<f64>, tensor<i32>
}
// CHECK-LABEL: func.func @inside(
// CHECK-NEXT:    stablehlo.add %arg2, %arg2 : tensor<i32>
// CHECK:           [[A:%\w+]] = stablehlo.convert %arg1 : (tensor<f64>) -> tensor<f16>
// CHECK-NEXT:      [[B:%\w+]] = stablehlo.sine [[A]] : tensor<f16>
// CHECK-NEXT:      stablehlo.convert [[B]] : (tensor<f16>) -> tensor<f64>
