// A sum of arrays that are divided along different axes is whole; where one divides more, the sum is
// divided as that one is.
// RUN: --pipeline "partition"
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %z: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    attributes {irax.mesh = "a=2,b=2", irax.in_specs = [[["a"], []], [["b"], []], [["a", "b"], []]], irax.out_specs = [unit, unit]} {
  %0 = stablehlo.add %x, %y : tensor<8x4xf32>
  %1 = stablehlo.add %x, %z : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// CHECK:      func.func {{.*}}@main(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>)
// CHECK:        [[FIRST:%\w+]] = stablehlo.custom_call @irax.all_gather(%arg0) {{.*}}axis = "a"
// CHECK:        [[X:%\w+]] = stablehlo.reshape [[FIRST]]
// CHECK:        [[SECOND:%\w+]] = stablehlo.custom_call @irax.all_gather(%arg1) {{.*}}axis = "b"
// CHECK:        [[Y:%\w+]] = stablehlo.reshape [[SECOND]]
// CHECK:        [[SUM:%\w+]] = stablehlo.add [[X]], [[Y]]
// CHECK:        [[PART:%\w+]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [2, 4]
// CHECK:        [[PARTS:%\w+]] = stablehlo.add [[PART]], %arg2
// CHECK:        return [[SUM]], [[PARTS]]
