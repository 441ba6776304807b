// To compile the sum so far of 150 takes minutes.
// TARGETS: tpu
// EXPECT: slow
// INPUT: [1.0]
func.func @main(%x: tensor<150xf64>) -> tensor<150xf64> {
  %c = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[149, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 150>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<150xf64>, tensor<f64>) -> tensor<150xf64>
  return %0 : tensor<150xf64>
}
