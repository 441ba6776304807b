// A product whose contracted dimension is divided is summed over the devices; the rows that are
// divided along another axis stay where they are.
// RUN: --pipeline "partition"
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6x8xf32>)
    attributes {irax.mesh = "data=2,model=2", irax.in_specs = [[["data"], []], [["model"], []], [["model"]]],
                irax.out_specs = [unit, [[], []]]} {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<6x8xf32>
}
// CHECK:      func.func {{.*}}@main(%arg0: tensor<4x4xf32>, %arg1: tensor<2x6xf32>, %arg2: tensor<3xf32>) -> (tensor<4x6xf32>, tensor<6x8xf32>)
// CHECK-SAME:   irax.out_specs = {{.*}}"data"
// CHECK:        [[PLACE:%\w+]] = stablehlo.custom_call @irax.axis_index() {{.*}}axis = "model"
// CHECK:        [[COLUMNS:%\w+]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [4, 2]
// CHECK:        [[PART:%\w+]] = stablehlo.dot_general [[COLUMNS]], %arg1, contracting_dims = [1] x [0]
// CHECK:        [[SUM:%\w+]] = stablehlo.custom_call @irax.all_reduce([[PART]]) {{.*}}axis = "model"
// CHECK:        [[TURNED:%\w+]] = stablehlo.transpose [[SUM]]
// CHECK:        [[STACKED:%\w+]] = stablehlo.custom_call @irax.all_gather([[TURNED]]) {{.*}}axis = "data"
// CHECK:        [[WHOLE:%\w+]] = stablehlo.reshape [[STACKED]]
// CHECK:        return [[SUM]], [[WHOLE]]
