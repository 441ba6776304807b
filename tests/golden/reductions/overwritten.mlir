// The kernel of a softmax writes over a product that nothing else uses.
// RUN: --pipeline "blas{workers=2 always=true},reductions{workers=2}"
module {
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<256x64xf32>, %k: tensor<64x256xf32>) -> tensor<256x256xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<256x256xf32>
  %4 = stablehlo.exponential %3 : tensor<256x256xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
  %7 = stablehlo.divide %4, %6 : tensor<256x256xf32>
  return %7 : tensor<256x256xf32>
}
// CHECK:         [[SCORES:%\w+]] = flow.dispatch @product
// CHECK:         flow.dispatch @reduction{{.*}}([[SCORES]]) : (tensor<256x256xf32>) -> [[SCORES]]

// It does not where a later pass through the elements reads the product again.
// CHECK-LABEL: func.func @read_again
func.func @read_again(%q: tensor<256x64xf32>, %k: tensor<64x256xf32>) -> tensor<256x256xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<256x256xf32>
  %4 = stablehlo.exponential %3 : tensor<256x256xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
  %7 = stablehlo.divide %4, %6 : tensor<256x256xf32>
  %8 = stablehlo.add %0, %7 : tensor<256x256xf32>
  return %8 : tensor<256x256xf32>
}
// CHECK:         flow.dispatch @reduction{{.*}} : (tensor<256x256xf32>) -> tensor<256x256xf32>

// Nor where something else uses it.
// CHECK-LABEL: func.func @used
func.func @used(%q: tensor<256x64xf32>, %k: tensor<64x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
  %3 = stablehlo.divide %0, %2 : tensor<256x256xf32>
  return %0, %3 : tensor<256x256xf32>, tensor<256x256xf32>
}
// CHECK:         flow.dispatch @reduction{{.*}} : (tensor<256x256xf32>) -> tensor<256x256xf32>
}
