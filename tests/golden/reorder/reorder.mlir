// RUN: --pipeline "reorder"

// The function of the broadcast array goes before it. IREE moves the other one by itself.
func.func @main(%x: tensor<2x8xi1>) -> (tensor<16xi8>, tensor<16x5xi8>) {
  %0 = stablehlo.reshape %x : (tensor<2x8xi1>) -> tensor<16xi1>
  %1 = stablehlo.convert %0 : (tensor<16xi1>) -> tensor<16xi8>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<16xi1>) -> tensor<16x5xi1>
  %3 = stablehlo.convert %2 : (tensor<16x5xi1>) -> tensor<16x5xi8>
  return %1, %3 : tensor<16xi8>, tensor<16x5xi8>
}
// CHECK-LABEL: func.func @main
// CHECK-DAG:     [[R:%\w+]] = stablehlo.reshape %arg0 : (tensor<2x8xi1>) -> tensor<16xi1>
// CHECK-DAG:     [[A:%\w+]] = stablehlo.convert [[R]]
// CHECK-DAG:     [[C:%\w+]] = stablehlo.convert %arg0 : (tensor<2x8xi1>) -> tensor<2x8xi8>
// CHECK-DAG:     [[S:%\w+]] = stablehlo.reshape [[C]] : (tensor<2x8xi8>) -> tensor<16xi8>
// CHECK-DAG:     [[B:%\w+]] = stablehlo.broadcast_in_dim [[S]], dims = [0]
// CHECK:         return [[A]], [[B]]

// Functions of functions, and moves on both sides of the broadcast.
func.func @chain(%x: tensor<3x4xf32>) -> tensor<60xf64> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x5xf32>
  %2 = stablehlo.negate %1 : tensor<4x3x5xf32>
  %3 = stablehlo.reshape %2 : (tensor<4x3x5xf32>) -> tensor<60xf32>
  %4 = stablehlo.convert %3 : (tensor<60xf32>) -> tensor<60xf64>
  return %4 : tensor<60xf64>
}
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    [[N:%\w+]] = stablehlo.negate %arg0
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.convert [[N]]
// CHECK-NEXT:    [[T:%\w+]] = stablehlo.transpose [[C]], dims = [1, 0]
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.broadcast_in_dim [[T]], dims = [0, 1]
// CHECK-NEXT:    [[R:%\w+]] = stablehlo.reshape [[B]]
// CHECK-NEXT:    return [[R]]

// Without a reshape or transpose before the broadcast IREE has nothing to move in vain; functions
// of two arrays it leaves where they are.
func.func @left(%x: tensor<4xf32>, %y: tensor<2x2xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.negate %0 : tensor<4x3xf32>
  %2 = stablehlo.reshape %y : (tensor<2x2xf32>) -> tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
  %4 = stablehlo.add %0, %3 : tensor<4x3xf32>
  return %1, %4 : tensor<4x3xf32>, tensor<4x3xf32>
}
// CHECK-LABEL: func.func @left
// CHECK:         [[X:%\w+]] = stablehlo.broadcast_in_dim %arg0
// CHECK-NEXT:    stablehlo.negate [[X]]
// CHECK-NEXT:    [[Y:%\w+]] = stablehlo.reshape %arg1
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.broadcast_in_dim [[Y]]
// CHECK-NEXT:    stablehlo.add [[X]], [[B]]
