// RUN: --pipeline "simplify"

// A custom call whose result nobody uses is kept where it says that it has side effects. Without a
// word it has none, as StableHLO defines.
func.func @calls(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @silent(%x) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @pure(%x) {has_side_effect = false} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @acts(%x) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  return %x : tensor<f32>
}
// CHECK-LABEL: func.func @calls
// CHECK-NEXT:    stablehlo.custom_call @acts
// CHECK-NEXT:    return %arg0
