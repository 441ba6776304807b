// For SPIR-V, IREE asks for the driver's exponential. Drivers take a power of two of x / log(2),
// whose rounding error grows with x, as Vulkan allows.
// TARGETS: iree-vulkan
// EXPECT: wrong
// SPEC: exponential: "For floats: `exp` from IEEE-754."
// TOLERANCE: 1e-7
// INPUT: [-80.3, 70.1]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.exponential %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
