// A long row and a long column: tangents for the other rows, cotangents for the long one.

// RUN: --pipeline "jacobian{func=main}"
// concatenate(x[0] * x[1:], sum(x))
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf32>) -> tensor<7xf32>
  %2 = stablehlo.slice %x [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<7xf32>
  %4 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.reshape %4 : (tensor<f32>) -> tensor<1xf32>
  %6 = stablehlo.concatenate %3, %5, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %6 : tensor<8xf32>
}
// CHECK:      func.func @main.jacobian([[X:%\w+]]: tensor<8xf32>) -> (tensor<22xf32>, tensor<22xi64>, tensor<22xi64>)
// CHECK:        [[TANGENTS:%\w+]]:2 = call @main.jvp.batch([[X]], {{.*}}tensor<2x8xf32>)
// CHECK:        [[COTANGENTS:%\w+]]:2 = call @main.vjp.batch([[X]], {{.*}}tensor<1x8xf32>)
// CHECK:        [[PRODUCTS:%\w+]] = stablehlo.concatenate {{.*}} : (tensor<16xf32>, tensor<8xf32>) -> tensor<24xf32>
// CHECK-NEXT:   [[PLACES:%\w+]] = stablehlo.constant
// CHECK-NEXT:   "stablehlo.gather"([[PRODUCTS]], [[PLACES]])
