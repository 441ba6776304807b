// Loops of no step, and of a single one.

// RUN: --pipeline "simplify"

func.func @loop_of_one_step(%x: tensor<8xf32>, %u: tensor<2xf32>) -> (tensor<i32>, tensor<8xf32>) {
  %start = stablehlo.constant dense<3> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<8xf32>
}
// CHECK:      func.func @loop_of_one_step([[X:%\w+]]: tensor<8xf32>, [[U:%\w+]]: tensor<2xf32>)
// CHECK-NOT:    stablehlo.while
// CHECK:        stablehlo.dynamic_update_slice [[X]], [[U]]

func.func @loop_of_no_step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %start = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %start : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.sine %a : tensor<8xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
// CHECK:      func.func @loop_of_no_step([[X:%\w+]]: tensor<8xf32>)
// CHECK-NEXT:   return [[X]]
