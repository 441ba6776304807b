// Running maxima with their places: IREE goes through all elements so far for each element.
// EXPECT: slow
// INPUT: [1.0, -1.0, 2.0]
func.func @main(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<1024xi32>
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %d = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = "stablehlo.reduce_window"(%x, %i, %c, %d) <{padding = dense<[[1023, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1024>}> ({
  ^bb0(%a: tensor<f32>, %j: tensor<i32>, %b: tensor<f32>, %k: tensor<i32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }) : (tensor<1024xf32>, tensor<1024xi32>, tensor<f32>, tensor<i32>) -> (tensor<1024xf32>, tensor<1024xi32>)
  return %0#0, %0#1 : tensor<1024xf32>, tensor<1024xi32>
}
