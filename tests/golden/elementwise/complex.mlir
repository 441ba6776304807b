// RUN: --pipeline "elementwise"

// Complex numbers are two registers: of real parts, and of imaginary parts. Memory holds them in
// turns.
func.func @product(%x: tensor<4096xcomplex<f32>>, %y: tensor<4096xcomplex<f32>>) -> tensor<4096xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %y : tensor<4096xcomplex<f32>>
  return %0 : tensor<4096xcomplex<f32>>
}
// CHECK-LABEL: func.func @elementwise(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: !stream.binding)
// CHECK:         [[X:%\w+]] = vector.load {{.*}} vector<32xf32>
// CHECK-NEXT:    vector.shuffle [[X]], [[X]] [0, 2, 4, 6,
// CHECK-NEXT:    vector.shuffle [[X]], [[X]] [1, 3, 5, 7,
// CHECK-COUNT-4: arith.mulf {{.*}} vector<16xf32>
// CHECK:         arith.subf
// CHECK:         arith.addf
// CHECK:         vector.shuffle {{.*}} [0, 16, 1, 17,
// CHECK:         vector.store {{.*}} vector<32xf32>
// CHECK:       func.func @product
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise::@elementwise(%arg0, %arg1)
// CHECK-NEXT:    return [[Y]]

// A formula of parts is in one kernel with them: barriers around it are for IREE.
func.func @magnitude(%x: tensor<5000xcomplex<f64>>) -> tensor<5000xf64> {
  %0 = stablehlo.real %x : (tensor<5000xcomplex<f64>>) -> tensor<5000xf64>
  %1 = stablehlo.imag %x : (tensor<5000xcomplex<f64>>) -> tensor<5000xf64>
  %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<5000xf64>, tensor<5000xf64>
  %3 = "stablehlo.map"(%2#0, %2#1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %4 = stablehlo.maximum %a, %b : tensor<f64>
    stablehlo.return %4 : tensor<f64>
  }) : (tensor<5000xf64>, tensor<5000xf64>) -> tensor<5000xf64>
  %5 = stablehlo.optimization_barrier %3 : tensor<5000xf64>
  return %5 : tensor<5000xf64>
}
// CHECK:       func.func @magnitude
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise_1::@elementwise_1(%arg0)
// CHECK-NEXT:    return [[Y]]

// A user's barrier stays.
func.func @barred(%x: tensor<5000xf32>) -> tensor<5000xf32> {
  %0 = stablehlo.optimization_barrier %x : tensor<5000xf32>
  return %0 : tensor<5000xf32>
}
// CHECK:       func.func @barred
// CHECK-NEXT:    stablehlo.optimization_barrier

// A conversion of real numbers gives the other part zeros.
func.func @converted(%x: tensor<5000xf32>, %y: tensor<5000xcomplex<f32>>) -> tensor<5000xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %x : tensor<5000xf32>
  %1 = stablehlo.convert %0 : (tensor<5000xf32>) -> tensor<5000xcomplex<f32>>
  %2 = stablehlo.add %1, %y : tensor<5000xcomplex<f32>>
  return %2 : tensor<5000xcomplex<f32>>
}
// CHECK:       func.func @converted
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise_{{[0-9]+}}::@elementwise_{{[0-9]+}}(%arg0, %arg1)
// CHECK-NEXT:    return [[Y]]

// Of both parts where complex numbers become others, of one where they become real.
func.func @narrowed(%x: tensor<5000xcomplex<f64>>) -> (tensor<5000xcomplex<f32>>, tensor<5000xf32>) {
  %0 = stablehlo.multiply %x, %x : tensor<5000xcomplex<f64>>
  %1 = stablehlo.convert %0 : (tensor<5000xcomplex<f64>>) -> tensor<5000xcomplex<f32>>
  %2 = stablehlo.convert %0 : (tensor<5000xcomplex<f64>>) -> tensor<5000xf32>
  return %1, %2 : tensor<5000xcomplex<f32>>, tensor<5000xf32>
}
// CHECK:       func.func @narrowed
// CHECK-NEXT:    [[Y:%\w+]]:2 = flow.dispatch @elementwise_{{[0-9]+}}::@elementwise_{{[0-9]+}}(%arg0)
