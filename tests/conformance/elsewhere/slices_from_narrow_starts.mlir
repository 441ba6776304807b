// XLA adds the starts of two nested dynamic slices in their own type: 100 and 100 are -56 in i8, though
// neither of them needs to be clamped.
// WRONG: jaxlib 0.10.2
// INPUT: np.arange(300.0)
// INPUT: np.array(100, np.int8)
// INPUT: np.array(100, np.int8)
// NUMPY: a[200:250]
func.func @main(%a: tensor<300xf64>, %b: tensor<i8>, %c: tensor<i8>) -> tensor<50xf64> {
  %part = stablehlo.dynamic_slice %a, %b, sizes = [200]
    : (tensor<300xf64>, tensor<i8>) -> tensor<200xf64>
  %within = stablehlo.dynamic_slice %part, %c, sizes = [50]
    : (tensor<200xf64>, tensor<i8>) -> tensor<50xf64>
  return %within : tensor<50xf64>
}
