// RUN: --pipeline "loops"

// A formula with a loop is a function of a kernel, and nothing else: there is one kernel for each
// caller. The counter of its loop is a scalar, as the number of steps is the same for all elements.
// CHECK:       stream.executable private @kernel_1
// CHECK:         func.func private @kernel_1_outer_0([[X:%\w+]]: vector<4xf32>)
// CHECK:           math.absf
// CHECK:           scf.while {{.*}} : (i32, vector<4xf32>) -> (i32, vector<4xf32>)
// CHECK-NOT:         vector.reduction
// CHECK-NOT:         arith.select
// CHECK:           return
// CHECK:       stream.executable private @kernel
// CHECK:         func.func private @kernel_steps_0(%arg0: vector<4xf32>) -> vector<4xf32>
// CHECK:           scf.while {{.*}} : (i32, vector<4xf32>) -> (i32, vector<4xf32>)
// CHECK:       func.func @main(
// CHECK:         flow.dispatch @kernel::@kernel(
// CHECK-NOT:     stablehlo.while
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @irax.formula(%x) {api_version = 4 : i32, backend_config = {function = @steps}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A formula may call one that has a loop.
// CHECK-LABEL: func.func @nested(
// CHECK:         flow.dispatch @kernel_1::@kernel_1(
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @irax.formula(%x) {api_version = 4 : i32, backend_config = {function = @outer}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-NOT:   func.func private @outer
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32>
  %1 = stablehlo.custom_call @irax.formula(%0) {api_version = 4 : i32, backend_config = {function = @steps}, has_side_effect = false} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

func.func private @steps(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
   cond {
    %p = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %k = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
    %z = stablehlo.divide %k, %y : tensor<f32>
    stablehlo.return %j, %z : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
