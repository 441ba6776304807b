// In loops, IREE loses the buffers of arrays that a branch gives as they were outside.
// EXPECT: right
// INPUT: [5]
// INPUT: [1.0, 2.0]
// INPUT: [3.0, 4.0]
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %z, %a = %x, %b = %y) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %p = stablehlo.compare GT, %i, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2:2 = "stablehlo.if"(%p) ({
      stablehlo.return %a, %b : tensor<4xf32>, tensor<4xf32>
    }, {
      %u = stablehlo.slice %a [0:1] : (tensor<4xf32>) -> tensor<1xf32>
      %4 = stablehlo.dynamic_update_slice %b, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      stablehlo.return %4, %a : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
    %3 = stablehlo.add %i, %o : tensor<i32>
    stablehlo.return %3, %2#0, %2#1 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}
