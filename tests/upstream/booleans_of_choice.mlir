// A kernel that chooses between arrays by one boolean cannot return booleans of the result, and what
// it makes of them.
// EXPECT: refused
// INPUT: [True]
// INPUT: [1]
// INPUT: [0]
func.func @main(%p: tensor<i1>, %x: tensor<16xi32>, %y: tensor<16xi32>) -> (tensor<16xi8>, tensor<16xi8>) {
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<16xi32>
  %1 = stablehlo.convert %0 : (tensor<16xi32>) -> tensor<16xi1>
  %2 = stablehlo.convert %1 : (tensor<16xi1>) -> tensor<16xi8>
  %3 = stablehlo.reverse %1, dims = [0] : tensor<16xi1>
  %4 = stablehlo.convert %3 : (tensor<16xi1>) -> tensor<16xi8>
  return %2, %4 : tensor<16xi8>, tensor<16xi8>
}
