// XLA's CPU compiler writes a shifted result over the buffer that it is read from.
// Cumulative sums, moved by one place within themselves: the first sum is found at every place that
// the update reaches, since each element is read after the one before it was written.
// WRONG: jaxlib 0.10.2, jaxlib 0.12.0.1
// INPUT: np.arange(1.0, 9.0)
// NUMPY: np.r_[np.cumsum(a)[:1], np.cumsum(a)[:-1]]
func.func @main(%a: tensor<8xf64>) -> tensor<8xf64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %sums = "stablehlo.reduce_window"(%a, %zero) <{
    padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>
  }> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %sum = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %sum : tensor<f64>
  }) : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %part = stablehlo.slice %sums [0:7] : (tensor<8xf64>) -> tensor<7xf64>
  %moved = stablehlo.dynamic_update_slice %sums, %part, %one
    : (tensor<8xf64>, tensor<7xf64>, tensor<i32>) -> tensor<8xf64>
  return %moved : tensor<8xf64>
}
