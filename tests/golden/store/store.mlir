// RUN: --pipeline "store"

// A product reads slices of a selection, which is computed once for both.
func.func @product(%p: tensor<4x2x2xi1>, %x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2x2xf32>, tensor<4x2x2xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<2x2xf32>) -> tensor<4x2x2xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<2x2xf32>) -> tensor<4x2x2xf32>
  %2 = stablehlo.select %p, %0, %1 : tensor<4x2x2xi1>, tensor<4x2x2xf32>
  %3 = stablehlo.slice %2 [1:4:2, 0:2, 0:2] : (tensor<4x2x2xf32>) -> tensor<2x2x2xf32>
  %4 = stablehlo.slice %2 [0:3:2, 0:2, 0:2] : (tensor<4x2x2xf32>) -> tensor<2x2x2xf32>
  %5 = stablehlo.dot_general %3, %4, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %6 = stablehlo.negate %2 : tensor<4x2x2xf32>
  return %5, %6 : tensor<2x2x2xf32>, tensor<4x2x2xf32>
}
// CHECK-LABEL: func.func @product(
// CHECK:         [[S:%\w+]] = stablehlo.select
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[S]]
// CHECK-NEXT:    [[L:%\w+]] = stablehlo.slice [[B]] [1:4:2
// CHECK-NEXT:    [[R:%\w+]] = stablehlo.slice [[B]] [0:3:2
// CHECK-NEXT:    stablehlo.dot_general [[L]], [[R]]
// CHECK-NEXT:    stablehlo.negate [[S]]

// Conversions and moves are cheap: they follow the barrier.
func.func @gather(%x: tensor<8xf16>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf16>
  %1 = stablehlo.convert %0 : (tensor<8xf16>) -> tensor<8xf32>
  %2 = "stablehlo.gather"(%1, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
// CHECK-LABEL: func.func @gather(
// CHECK-NEXT:    [[T:%\w+]] = stablehlo.tanh
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[T]]
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.convert [[B]]
// CHECK-NEXT:    gather{{.*}}[[C]]

// What nothing computes is in memory.
func.func @arrays(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
// CHECK-LABEL: func.func @arrays(
// CHECK-NOT:     optimization_barrier
// CHECK:         return
