// RUN: --pipeline "annotate,split-large-signatures{most=5 bound=3}"

// IREE gives an array that is returned, too, another type than one that only other parts use: no
// function takes both.
func.func @types(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %x2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @made(%x0) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @made(%x1) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @made(%x2) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = func.call @used(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = func.call @used(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = func.call @used(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @made(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline, noinline} {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @used(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline, noinline} {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @types(
// CHECK:         [[A:%\w+]] = call @types.part(
// CHECK:         [[B:%\w+]] = call @types.part(
// CHECK:         [[C:%\w+]] = call @types.part_1(
// CHECK:         call @types.part_2({{.*}}, [[A]])
// CHECK:         call @types.part_2({{.*}}, [[B]])
// CHECK:         call @types.part_3({{.*}}, [[C]])
