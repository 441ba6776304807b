// RUN: --pipeline "part-sums"

// The sum goes along the rows first: all rows are multiplied by the same numbers.
func.func @main(%w: tensor<2xf32>, %x: tensor<3x2xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.exponential %0 : tensor<3x2xf32>
  %2 = stablehlo.multiply %1, %x : tensor<3x2xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
// CHECK-LABEL: func.func @main(
// CHECK:         [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK:         [[P:%\w+]] = stablehlo.multiply
// CHECK:         [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK:         [[R:%\w+]] = stablehlo.reduce([[P]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0]
// CHECK:         stablehlo.reduce([[R]] init: [[ONE]]) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>)

// Each factor has dimensions of its own: only those of one are the first.
func.func @two(%w: tensor<4x3xf32>, %x: tensor<2x3xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2x4x3xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
// CHECK-LABEL: func.func @two(
// CHECK:         [[R:%\w+]] = stablehlo.reduce({{%\w+}} init: {{%\w+}}) applies stablehlo.add across dimensions = [0] : (tensor<2x4x3xf32>, tensor<f32>)
// CHECK:         stablehlo.reduce([[R]] init: {{%\w+}}) applies stablehlo.add across dimensions = [0, 1]

// A product that is folded together with another array stays apart.
func.func @together(%w: tensor<2xf32>, %x: tensor<3x2xf32>) -> (tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.multiply %0, %x : tensor<3x2xf32>
  %2:2 = stablehlo.reduce(%1 init: %z), (%x init: %z) across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
    %3 = stablehlo.add %a, %b : tensor<f32>
    %4 = stablehlo.maximum %c, %d : tensor<f32>
    stablehlo.return %3, %4 : tensor<f32>, tensor<f32>
  }
  return %2#0, %2#1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @together(
// CHECK:         [[P:%\w+]] = stablehlo.multiply
// CHECK:         [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK:         stablehlo.reduce([[B]] init

// Sums along rows alone, of arrays with each other, and maxima are as they are.
func.func @whole(%w: tensor<2xf32>, %x: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.multiply %0, %x : tensor<3x2xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3x2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = stablehlo.reduce(%1 init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.multiply %x, %x : tensor<3x2xf32>
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
  return %2, %3, %5 : tensor<2xf32>, tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @whole(
// CHECK-COUNT-3: stablehlo.reduce
// CHECK-NOT:     stablehlo.reduce
// CHECK:         return
