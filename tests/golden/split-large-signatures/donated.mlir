// RUN: --pipeline "annotate,donation,split-large-signatures{most=5 bound=3}"

// The second part may write to y, which no part after it reads; of x, which it updates and a later part
// reads, it has a copy.
func.func @main(%x: tensor<64xf32> {iree.abi.consume}, %y: tensor<64xf32> {iree.abi.consume}, %u: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %i = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
  %1 = stablehlo.dynamic_update_slice %y, %v, %i : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
  %2 = stablehlo.negate %x : tensor<64xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
// CHECK:       func.func private @main.part(
// CHECK:         [[X:%\w+]] = hal.tensor.import %{{.*}} : !hal.buffer_view -> tensor<64xf32>
// CHECK:         [[COPY:%\w+]] = stablehlo.select {{.*}}, [[X]],
// CHECK:         stablehlo.dynamic_update_slice [[COPY]],

// CHECK:       func.func private @main.part_1(
// CHECK:         [[Y:%\w+]] = hal.tensor.import consume %{{.*}} : !hal.buffer_view -> tensor<64xf32>
// CHECK:         stablehlo.dynamic_update_slice [[Y]],

// CHECK:       func.func private @main.part_2(
// CHECK:         [[X:%\w+]] = hal.tensor.import %{{.*}} : !hal.buffer_view -> tensor<64xf32>
// CHECK:         stablehlo.negate [[X]]
