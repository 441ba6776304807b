// RUN: --pipeline "simplify"

// The gradient of a function of three columns: two terms belong to the first column.
func.func @sum_of_parts(%a: tensor<5x1xf32>, %b: tensor<5x1xf32>, %c: tensor<5x1xf32>, %d: tensor<5x1xf32>, %y: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x3xf32>
  %1 = stablehlo.pad %b, %zero, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x3xf32>
  %2 = stablehlo.pad %c, %zero, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x3xf32>
  %3 = stablehlo.pad %d, %zero, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x3xf32>
  %4 = stablehlo.add %0, %1 : tensor<5x3xf32>
  %5 = stablehlo.add %4, %y : tensor<5x3xf32>
  %6 = stablehlo.add %2, %3 : tensor<5x3xf32>
  %7 = stablehlo.add %5, %6 : tensor<5x3xf32>
  return %7 : tensor<5x3xf32>
}
// CHECK:      func.func @sum_of_parts([[A:%\w+]]: tensor<5x1xf32>, [[B:%\w+]]: tensor<5x1xf32>, [[C:%\w+]]: tensor<5x1xf32>, [[D:%\w+]]: tensor<5x1xf32>, [[Y:%\w+]]: tensor<5x3xf32>)
// CHECK-NEXT:   [[AD:%\w+]] = stablehlo.add [[A]], [[D]] : tensor<5x1xf32>
// CHECK-NEXT:   [[X:%\w+]] = stablehlo.concatenate [[AD]], [[C]], [[B]], dim = 1
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.add [[X]], [[Y]]
// CHECK-NEXT:   return [[R]]

// Between the parts are zeros.
func.func @sum_of_parts.apart(%a: tensor<2x3xi32>, %b: tensor<4x3xi32>) -> tensor<9x3xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %a, %zero, low = [6, 0], high = [1, 0], interior = [0, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<9x3xi32>
  %1 = stablehlo.pad %b, %zero, low = [0, 0], high = [5, 0], interior = [0, 0] : (tensor<4x3xi32>, tensor<i32>) -> tensor<9x3xi32>
  %2 = stablehlo.add %0, %1 : tensor<9x3xi32>
  return %2 : tensor<9x3xi32>
}
// CHECK:      func.func @sum_of_parts.apart([[A:%\w+]]: tensor<2x3xi32>, [[B:%\w+]]: tensor<4x3xi32>)
// CHECK-DAG:    [[TWO:%\w+]] = stablehlo.constant dense<0> : tensor<2x3xi32>
// CHECK-DAG:    [[ONE:%\w+]] = stablehlo.constant dense<0> : tensor<1x3xi32>
// CHECK:        [[X:%\w+]] = stablehlo.concatenate [[B]], [[TWO]], [[A]], [[ONE]], dim = 0
// CHECK-NEXT:   return [[X]]

// Parts along two dimensions are joined along one after the other.
func.func @sum_of_parts.of_matrices(%a: tensor<1x1xi32>, %b: tensor<1x1xi32>, %c: tensor<1x2xi32>) -> tensor<2x2xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %a, %zero, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<1x1xi32>, tensor<i32>) -> tensor<2x2xi32>
  %1 = stablehlo.pad %b, %zero, low = [0, 1], high = [1, 0], interior = [0, 0] : (tensor<1x1xi32>, tensor<i32>) -> tensor<2x2xi32>
  %2 = stablehlo.pad %c, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<1x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  %3 = stablehlo.add %0, %1 : tensor<2x2xi32>
  %4 = stablehlo.add %3, %2 : tensor<2x2xi32>
  return %4 : tensor<2x2xi32>
}
// CHECK:      func.func @sum_of_parts.of_matrices([[A:%\w+]]: tensor<1x1xi32>, [[B:%\w+]]: tensor<1x1xi32>, [[C:%\w+]]: tensor<1x2xi32>)
// CHECK-NEXT:   [[AB:%\w+]] = stablehlo.concatenate [[A]], [[B]], dim = 1
// CHECK-NEXT:   [[X:%\w+]] = stablehlo.concatenate [[AB]], [[C]], dim = 0
// CHECK-NEXT:   return [[X]]

// Reshaped arrays are added in the shape of what computed them.
func.func @sum_of_parts.reshaped(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<5xf32>) -> tensor<5x1xf32>
  %1 = stablehlo.pad %0, %zero, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x2xf32>
  %2 = stablehlo.reshape %y : (tensor<5xf32>) -> tensor<5x1xf32>
  %3 = stablehlo.pad %2, %zero, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x2xf32>
  %4 = stablehlo.add %1, %3 : tensor<5x2xf32>
  return %4 : tensor<5x2xf32>
}
// CHECK-LABEL: func.func @sum_of_parts.reshaped
// CHECK:         [[SUM:%\w+]] = stablehlo.add %arg0, %arg1 : tensor<5xf32>
// CHECK-NEXT:    [[COLUMN:%\w+]] = stablehlo.reshape [[SUM]] : (tensor<5xf32>) -> tensor<5x1xf32>
// CHECK-NOT:     stablehlo.add

// The gradient of a function that reads an element: the others stay as they are.
func.func @sum_with_update_of_zeros(%x: tensor<50xf32>, %y: tensor<1xf32>, %i: tensor<i32>) -> tensor<50xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<50xf32>
  %0 = stablehlo.dynamic_update_slice %zeros, %y, %i : (tensor<50xf32>, tensor<1xf32>, tensor<i32>) -> tensor<50xf32>
  %1 = stablehlo.add %0, %x : tensor<50xf32>
  return %1 : tensor<50xf32>
}
// CHECK:      func.func @sum_with_update_of_zeros([[X:%\w+]]: tensor<50xf32>, [[Y:%\w+]]: tensor<1xf32>, [[I:%\w+]]: tensor<i32>)
// CHECK-NEXT:   [[OLD:%\w+]] = stablehlo.dynamic_slice [[X]], [[I]], sizes = [1]
// CHECK-NEXT:   [[NEW:%\w+]] = stablehlo.add [[OLD]], [[Y]] : tensor<1xf32>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.dynamic_update_slice [[X]], [[NEW]], [[I]]
// CHECK-NEXT:   return [[R]]

// Of bfloat16, whose sum is of float32.
func.func @convert_of_update_of_zeros(%x: tensor<50xf32>, %y: tensor<1xbf16>, %i: tensor<i32>) -> tensor<50xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<50xbf16>
  %0 = stablehlo.dynamic_update_slice %zeros, %y, %i : (tensor<50xbf16>, tensor<1xbf16>, tensor<i32>) -> tensor<50xbf16>
  %1 = stablehlo.convert %0 : (tensor<50xbf16>) -> tensor<50xf32>
  %2 = stablehlo.multiply %1, %x : tensor<50xf32>
  return %2 : tensor<50xf32>
}
// CHECK:      func.func @convert_of_update_of_zeros([[X:%\w+]]: tensor<50xf32>, [[Y:%\w+]]: tensor<1xbf16>, [[I:%\w+]]: tensor<i32>)
// CHECK-NEXT:   [[ZEROS:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<50xf32>
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert [[Y]] : (tensor<1xbf16>) -> tensor<1xf32>
// CHECK-NEXT:   [[UPDATE:%\w+]] = stablehlo.dynamic_update_slice [[ZEROS]], [[WIDE]], [[I]]
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.multiply [[UPDATE]], [[X]]
// CHECK-NEXT:   return [[R]]
