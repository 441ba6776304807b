// IREE and XLA round every partial sum of bfloat16: the 257th term changes it no more.
// TARGETS: pjrt, iree-cpu
// EXPECT: wrong
// SPEC: The specification does not say in which type sums are computed.
// INPUT: [0.0]
// INPUT: [0]
// INPUT: [1.0]
// TOLERANCE: 0.01
func.func @main(%x: tensor<4xbf16>, %i: tensor<1000x1xi32>, %u: tensor<1000xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<1000x1xi32>, tensor<1000xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
