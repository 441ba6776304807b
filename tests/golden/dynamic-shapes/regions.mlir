// IREE is told the sizes of what branches return. A gather reads each element of its result, from
// where its index lies within the array.

// RUN: --pipeline "dynamic-shapes,cse"

func.func @branch(%x: tensor<?xf32, #irax.sizes<"n">>, %p: tensor<i1>) -> tensor<?xf32, #irax.sizes<"n">> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<?xf32, #irax.sizes<"n">>
    stablehlo.return %1 : tensor<?xf32, #irax.sizes<"n">>
  }, {
    stablehlo.return %x : tensor<?xf32, #irax.sizes<"n">>
  }) : (tensor<i1>) -> tensor<?xf32, #irax.sizes<"n">>
  return %0 : tensor<?xf32, #irax.sizes<"n">>
}

// CHECK-LABEL: @branch(
// CHECK:      [[N:%\w+]] = util.assume.int
// CHECK:      [[W:%\w+]] = "stablehlo.if"
// CHECK:      [[R:%\w+]] = flow.tensor.tie_shape [[W]] : tensor<?xf32>{[[N]]}
// CHECK-NEXT: return [[R]]

func.func @gather(%x: tensor<5xui8>, %i: tensor<?x1xi32, #irax.sizes<"n, 1">>) -> tensor<?xui8, #irax.sizes<"n">> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xui8>, tensor<?x1xi32, #irax.sizes<"n, 1">>) -> tensor<?xui8, #irax.sizes<"n">>
  return %0 : tensor<?xui8, #irax.sizes<"n">>
}

// CHECK-LABEL: @gather(
// CHECK:      [[INDICES:%\w+]] = flow.tensor.tie_shape %arg1
// CHECK:      [[BYTES:%\w+]] = stablehlo.bitcast_convert %arg0 : (tensor<5xui8>) -> tensor<5xi8>
// CHECK:      linalg.generic
// CHECK:        [[I:%\w+]] = tensor.extract [[INDICES]]
// CHECK:        [[P:%\w+]] = arith.index_cast [[I]]
// CHECK:        [[L:%\w+]] = arith.minsi [[P]], %c4
// CHECK:        [[Q:%\w+]] = arith.maxsi [[L]], %c0
// CHECK:        tensor.extract [[BYTES]]{{\[}}[[Q]]]
// CHECK:      stablehlo.bitcast_convert {{.*}} -> tensor<?xui8>
