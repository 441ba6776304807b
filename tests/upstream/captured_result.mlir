// A branch in a loop returns an array from outside of it as it is: IREE frees the memory of that
// array after the step.
// EXPECT: refused
// INPUT: [0.5, -1.0, 2.0]
// INPUT: [0.25, -0.5]
func.func @main(%x: tensor<1500x1500xf32>, %y: tensor<1500x1500xf32>) -> tensor<1500x1500xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %c5 = stablehlo.constant dense<5> : tensor<i32>
  %z = stablehlo.exponential %y : tensor<1500x1500xf32>
  %r:2 = stablehlo.while(%i = %c0, %p = %x) : tensor<i32>, tensor<1500x1500xf32>
  cond {
    %l = stablehlo.compare LT, %i, %c5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %g = stablehlo.compare GT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %a = "stablehlo.if"(%g) ({
      %s = stablehlo.add %p, %z : tensor<1500x1500xf32>
      stablehlo.return %s : tensor<1500x1500xf32>
    }, {
      stablehlo.return %z : tensor<1500x1500xf32>
    }) : (tensor<i1>) -> tensor<1500x1500xf32>
    %b = stablehlo.sine %a : tensor<1500x1500xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %b : tensor<i32>, tensor<1500x1500xf32>
  }
  return %r#1 : tensor<1500x1500xf32>
}
