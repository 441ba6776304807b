// IREE would update an argument in place: it is chosen, element by element, into fresh memory by a
// condition that always holds.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @update_of_argument(%x: tensor<8x4xf32>, %u: tensor<2x4xf32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// CHECK:      func.func @update_of_argument([[X:%\w+]]: tensor<8x4xf32>, [[U:%\w+]]: tensor<2x4xf32>
// CHECK:        [[ALWAYS:%\w+]] = stablehlo.compare GE,
// CHECK:        [[FRESH:%\w+]] = stablehlo.select [[ALWAYS]], [[X]],
// CHECK:        stablehlo.dynamic_update_slice [[FRESH]], [[U]]

// The condition counts in int64 where int32 cannot: it would not hold beyond 2^31 elements.
func.func @update_of_large_argument(%x: tensor<2147483653xi8>, %u: tensor<1xi8>, %i: tensor<i64>) -> tensor<2147483653xi8> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<2147483653xi8>, tensor<1xi8>, tensor<i64>) -> tensor<2147483653xi8>
  return %0 : tensor<2147483653xi8>
}
// CHECK:      func.func @update_of_large_argument
// CHECK:        stablehlo.iota dim = 0 : tensor<2147483653xi64>
// CHECK:        stablehlo.compare GE,

// A donated argument may change.
func.func @update_of_donated(%x: tensor<8x4xf32> {iree.abi.consume}, %u: tensor<2x4xf32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// CHECK:      func.func @update_of_donated([[X:%\w+]]: tensor<8x4xf32>
// CHECK-NOT:    stablehlo.select
// CHECK:        stablehlo.dynamic_update_slice [[X]],

// But for what else reads it.
func.func @update_of_donated_and_read(%x: tensor<8x4xf32> {iree.abi.consume}, %u: tensor<2x4xf32>, %i: tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0, %x : tensor<8x4xf32>, tensor<8x4xf32>
}
// CHECK:      func.func @update_of_donated_and_read([[X:%\w+]]: tensor<8x4xf32>
// CHECK:        [[FRESH:%\w+]] = stablehlo.select {{.*}}, [[X]],
// CHECK:        stablehlo.dynamic_update_slice [[FRESH]],

// One array updated in two ways: in a copy each.
func.func @update_of_shared(%a: tensor<8x3xf32>, %b: tensor<3xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.dynamic_update_slice %0, %u, %j : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
// CHECK:      func.func @update_of_shared
// CHECK:        [[X:%\w+]] = stablehlo.dot_general
// CHECK:        [[A:%\w+]] = stablehlo.select {{.*}}, [[X]],
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[A]],
// CHECK:        [[B:%\w+]] = stablehlo.select {{.*}}, [[X]],
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[B]],

// What is read only to be written back needs none.
func.func @read_first(%a: tensor<8x3xf32>, %b: tensor<3xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
  %1 = stablehlo.dynamic_slice %0, %i, sizes = [2] : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
  %2 = stablehlo.add %1, %u : tensor<2xf32>
  %3 = stablehlo.dynamic_update_slice %0, %2, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
// CHECK:      func.func @read_first
// CHECK-NOT:    stablehlo.select
// CHECK:        return

// Two copies of one argument, by conditions that differ: as one, they would be updated in two ways.
func.func @two_copies(%x: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %1 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.dynamic_update_slice %x, %u, %j : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
// CHECK:      func.func @two_copies
// CHECK-DAG:    [[A:%\w+]] = stablehlo.constant dense<0> : tensor<8xi32>
// CHECK:        stablehlo.compare GE, {{.*}}, [[A]]
// CHECK:        [[B:%\w+]] = stablehlo.constant dense<-1> : tensor<8xi32>
// CHECK:        stablehlo.compare GE, {{.*}}, [[B]]
