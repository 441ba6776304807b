// Sums of two constants, of which each has equal elements.
// EXPECT: wrong
// SPEC: reduce: "`exec(node) = body(exec(node.left), exec(node.right))`" over all values of the
// SPEC: slice.
// INPUT: [1.0]
func.func @main(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %a = stablehlo.constant dense<1.5> : tensor<3xf32>
  %b = stablehlo.constant dense<2.0> : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%a init: %z), (%b init: %z) across dimensions = [0]
    : (tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
      %5 = stablehlo.add %p, %q : tensor<f32>
      %6 = stablehlo.add %r, %s : tensor<f32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<f32>
    }
  %1 = stablehlo.reshape %0#0 : (tensor<f32>) -> tensor<1xf32>
  %2 = stablehlo.reshape %0#1 : (tensor<f32>) -> tensor<1xf32>
  %3 = stablehlo.multiply %1, %x : tensor<1xf32>
  %4 = stablehlo.multiply %2, %x : tensor<1xf32>
  return %3, %4 : tensor<1xf32>, tensor<1xf32>
}
