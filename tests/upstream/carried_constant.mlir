// A loop begins with a constant. IREE takes no buffer of a host function's for its next step.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [3]
func.func @main(%n: tensor<i32>) -> tensor<2x2xf32> {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<2x2xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %o : tensor<i32>
    %2 = stablehlo.custom_call @irax_host.sort(%x) {api_version = 4 : i32, backend_config = {dimension = 0 : i64}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<2x2xf32>
  }
  return %0#1 : tensor<2x2xf32>
}
