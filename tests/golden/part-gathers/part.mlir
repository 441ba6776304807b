// RUN: --pipeline "part-gathers"

// An element of a gather, and what is computed of it, stays apart from that of a sum.
func.func @main(%x: tensor<5xi8>, %i: tensor<1xi32>, %y: tensor<4xi8>) -> tensor<i8> {
  %z = stablehlo.constant dense<0> : tensor<i8>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xi8>, tensor<1xi32>) -> tensor<i8>
  %1 = stablehlo.negate %0 : tensor<i8>
  %2 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xi8>, tensor<i8>) -> tensor<i8>
  %3 = stablehlo.not %2 : tensor<i8>
  %4 = stablehlo.multiply %1, %3 : tensor<i8>
  %5 = stablehlo.subtract %4, %1 : tensor<i8>
  return %5 : tensor<i8>
}
// CHECK-LABEL: func.func @main(
// CHECK:         [[G:%\w+]] = "stablehlo.gather"
// CHECK-NEXT:    [[N:%\w+]] = stablehlo.negate [[G]]
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[N]]
// CHECK:         [[P:%\w+]] = stablehlo.multiply [[B]]
// CHECK-NEXT:    stablehlo.subtract [[P]], [[B]]

// Several elements of a gather or of sums are no such thing, nor is an element that is repeated.
func.func @several(%x: tensor<5xi8>, %i: tensor<2x1xi32>, %j: tensor<1xi32>, %y: tensor<4x2xi8>) -> tensor<2xi8> {
  %z = stablehlo.constant dense<0> : tensor<i8>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xi8>, tensor<2x1xi32>) -> tensor<2xi8>
  %1 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x2xi8>, tensor<i8>) -> tensor<2xi8>
  %2 = stablehlo.multiply %0, %1 : tensor<2xi8>
  %3 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xi8>, tensor<1xi32>) -> tensor<i8>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i8>) -> tensor<2xi8>
  %5 = stablehlo.multiply %2, %4 : tensor<2xi8>
  return %5 : tensor<2xi8>
}
// CHECK-LABEL: func.func @several(
// CHECK-NOT:     optimization_barrier
// CHECK:         return
