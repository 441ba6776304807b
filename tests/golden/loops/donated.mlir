// RUN: --pipeline "loops,donation"

// The loop begins in the memory of an array that is given up: there is no copy, and no result in
// memory of its own.
func.func @main(%p: tensor<128x256xf32> {iree.abi.consume}, %v: tensor<f32>) -> tensor<128x256xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %c = %p) : tensor<i32>, tensor<128x256xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.reshape %v : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.dynamic_update_slice %c, %1, %k, %k : (tensor<128x256xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<128x256xf32>
    %3 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<128x256xf32>
  }
  return %0#1 : tensor<128x256xf32>
}
// CHECK:       func.func @main({{.*}}irax.donated = "0", irax.in_place = "0", irax.own = "0"
// CHECK:         [[P:%\w+]] = stablehlo.reshape %arg0
// CHECK-NEXT:    flow.dispatch @kernel::@kernel({{.*}}) : ({{.*}}) -> ([[P]], tensor<1xi32>)

// The array is read later.
func.func @read(%p: tensor<128x256xf32> {iree.abi.consume}, %v: tensor<f32>) -> (tensor<128x256xf32>, tensor<128x256xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %c = %p) : tensor<i32>, tensor<128x256xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.reshape %v : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.dynamic_update_slice %c, %1, %k, %k : (tensor<128x256xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<128x256xf32>
    %3 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<128x256xf32>
  }
  return %0#1, %p : tensor<128x256xf32>, tensor<128x256xf32>
}
// CHECK:       func.func @read(
// CHECK-NOT:     in_place
// CHECK:         flow.dispatch {{.*}} -> (tensor<1xi32>, tensor<32768xf32>)
