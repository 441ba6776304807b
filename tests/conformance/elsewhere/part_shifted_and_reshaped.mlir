// XLA moves a part of an array by one place within the array, in place, where the result is reshaped:
// each element is read after the one before it was written. Without the reshape the result is right.
// WRONG: jaxlib 0.10.2, jaxlib 0.12.0.1
// INPUT: np.arange(6.0)
// INPUT: np.array(0, np.int32)
// NUMPY: np.r_[a[:1], a[:5]].reshape(6, 1)
func.func @main(%a: tensor<6xf64>, %b: tensor<i32>) -> tensor<6x1xf64> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %part = stablehlo.dynamic_slice %a, %b, sizes = [5] : (tensor<6xf64>, tensor<i32>) -> tensor<5xf64>
  %moved = stablehlo.dynamic_update_slice %a, %part, %one
    : (tensor<6xf64>, tensor<5xf64>, tensor<i32>) -> tensor<6xf64>
  %column = stablehlo.reshape %moved : (tensor<6xf64>) -> tensor<6x1xf64>
  return %column : tensor<6x1xf64>
}
