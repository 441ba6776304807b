// What the CPU has a library for becomes a call of that, with the op's parameters; the rest, and
// what the library's op is made of elsewhere, stay calls.
// RUN: --pipeline "decompose{target=iree-cpu},symbol-dce"
func.func private @svd(%x: tensor<3x2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @eig(tensor<2x2xf32>) -> tensor<2xcomplex<f32>>
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @main(%x: tensor<3x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xcomplex<f32>>) {
  %0 = stablehlo.composite "irax.svd" %x {composite_attributes = {full = false, vectors = false}, decomposition = @svd} : (tensor<3x2xf32>) -> tensor<2xf32>
  %1 = stablehlo.composite "a.other" %0 {decomposition = @other} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.composite "irax.eig" %y {composite_attributes = {vectors = false}, decomposition = @eig} : (tensor<2x2xf32>) -> tensor<2xcomplex<f32>>
  return %1, %2 : tensor<2xf32>, tensor<2xcomplex<f32>>
}
// CHECK-NOT:  @svd
// CHECK:      func.func @main
// CHECK:        [[S:%\w+]] = stablehlo.custom_call @irax_host.svd(%arg0)
// CHECK-SAME:     full = 0 : i64, vectors = 0 : i64
// CHECK:        call @other([[S]])
// CHECK:        stablehlo.custom_call @irax_host.eig(%arg1)
// CHECK-SAME:     vectors = 0 : i64

// Many small systems are eliminated element by element, along the batch.
func.func private @solve(%a: tensor<512x2x2xf32>, %b: tensor<512x2x1xf32>) -> tensor<512x2x1xf32> {
  return %b : tensor<512x2x1xf32>
}
func.func @many_small_systems(%a: tensor<512x2x2xf32>, %b: tensor<512x2x1xf32>) -> tensor<512x2x1xf32> {
  %0 = stablehlo.composite "irax.solve" %a, %b {decomposition = @solve} : (tensor<512x2x2xf32>, tensor<512x2x1xf32>) -> tensor<512x2x1xf32>
  return %0 : tensor<512x2x1xf32>
}
// CHECK:      func.func @many_small_systems
// CHECK-NOT:    call
// CHECK:        stablehlo.transpose {{.*}} -> tensor<4x512xf32>
// CHECK:        stablehlo.optimization_barrier
// CHECK:        [[SWAPS:%\w+]] = stablehlo.compare GT
// CHECK:        stablehlo.select [[SWAPS]], {{.*}} tensor<512xf32>
// CHECK:        stablehlo.concatenate
