// RUN: --pipeline "peel-host-calls"

// The steps that take no branch which calls the host are a loop of their own.
func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %y, %y : tensor<f32>
    %2 = stablehlo.compare GT, %1, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = "stablehlo.if"(%2) ({
      %5 = stablehlo.custom_call @irax_host.callback(%1) {api_version = 4 : i32, backend_config = {key = "f"}} : (tensor<f32>) -> tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }, {
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %3 : tensor<i32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<f32>
}

// CHECK: func.func @main
// CHECK: %[[FIRST:.*]]:2 = stablehlo.while
// CHECK: stablehlo.if
// CHECK: stablehlo.not
// CHECK: } do {
// CHECK-NOT: custom_call
// CHECK: stablehlo.while(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1)
// CHECK: custom_call @irax_host.callback
// CHECK: %[[AGAIN:.*]]:2 = stablehlo.while
// CHECK-NOT: custom_call
// CHECK: stablehlo.return %[[AGAIN]]#0, %[[AGAIN]]#1
