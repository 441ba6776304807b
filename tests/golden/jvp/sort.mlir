// Forward mode of sort: the tangents go where their elements go.

// RUN: --pipeline "jvp{func=sort},cse"
func.func @sort(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }) : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
// CHECK:      func.func @sort.jvp([[X:%\w+]]: tensor<5xf32>, [[DX:%\w+]]: tensor<5xf32>)
// CHECK-NEXT:   [[IOTA:%\w+]] = stablehlo.iota dim = 0 : tensor<5xi32>
// CHECK-NEXT:   [[SORT:%\w+]]:2 = "stablehlo.sort"([[X]], [[IOTA]]) <{dimension = 0 : i64, is_stable = true}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
// CHECK-NEXT:     [[COMPARE:%\w+]] = stablehlo.compare LT, %arg2, %arg3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:     stablehlo.return [[COMPARE]] : tensor<i1>
// CHECK-NEXT:   }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
// CHECK-NEXT:   [[GATHER:%\w+]] = "stablehlo.gather"([[DX]], [[SORT]]#1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<5xi32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[SORT]]#0, [[GATHER]] : tensor<5xf32>, tensor<5xf32>
