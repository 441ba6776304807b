// jvp = differences: off by 0.72, of slopes up to 3.9
module {
  func.func @main(%arg0: tensor<400xf32>) -> tensor<400xf32> {
    %0 = stablehlo.reduce_precision %arg0, format = e5m7 : tensor<400xf32>
    return %0 : tensor<400xf32>
  }
}
