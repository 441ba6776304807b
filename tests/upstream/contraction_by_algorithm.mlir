// IREE refuses a batch of products with an algorithm.
// TARGETS: iree-cpu, pjrt
// EXPECT: refused
// INPUT: [1.0, 2.0]
// INPUT: [3.0, 1.0]
func.func @main(%x: tensor<2x2x3xf32>, %y: tensor<2x3x2xf32>) -> tensor<2x2x2xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
  return %0 : tensor<2x2x2xf32>
}
