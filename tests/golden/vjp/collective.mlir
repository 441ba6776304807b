// A sum over lanes is its own transpose; those of a gather and of an exchange are a scatter and an
// exchange.
// RUN: --pipeline "vjp{func=main wrt=0}"
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", combiner = "add", size = 4 : i64}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @irax.all_gather(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", dimension = 1 : i64, size = 4 : i64}} : (tensor<4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.custom_call @irax.permute(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", size = 4 : i64, sources = array<i64: -1, 0, 1, 2>}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
// CHECK:      func.func private @main.bwd([[A:%\w+]]: tensor<4xf32>, [[B:%\w+]]: tensor<4x4xf32>, [[C:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   stablehlo.custom_call @irax.permute([[C]]) {{.*}}sources = array<i64: 1, 2, 3, -1>
// CHECK-NEXT:   stablehlo.custom_call @irax.reduce_scatter([[B]]) {{.*}}dimension = 1 : i64
// CHECK:        stablehlo.custom_call @irax.all_reduce([[A]])
