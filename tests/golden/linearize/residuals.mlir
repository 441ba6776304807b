// Residuals that follow from others by cheap elementwise operations are computed again: the values
// that are saved have the fewest bytes of all from which the others follow.

// The derivative of a cube reads x and its square, of which x alone is saved
// RUN: --pipeline "linearize{func=main}"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func @main.fwd([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SQUARE:%\w+]] = stablehlo.multiply [[X]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[CUBE:%\w+]] = stablehlo.multiply [[SQUARE]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[CUBE]], [[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK:      func.func @main.lin([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SQUARE:%\w+]] = stablehlo.multiply [[X]], [[X]] : tensor<4xf32>
// CHECK:        stablehlo.multiply [[DX]], [[SQUARE]] : tensor<4xf32>

// Both residuals follow from a third value, which no derivative reads
// RUN: --pipeline "linearize{func=two}"
func.func @two(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %i = stablehlo.constant dense<3.0> : tensor<4xf32>
  %z = stablehlo.sine %a : tensor<4xf32>
  %p = stablehlo.multiply %z, %c : tensor<4xf32>
  %q = stablehlo.subtract %z, %i : tensor<4xf32>
  %0 = stablehlo.multiply %p, %q : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @two.fwd(
// CHECK:        [[Z:%\w+]] = stablehlo.sine
// CHECK:        [[COS:%\w+]] = stablehlo.cosine
// CHECK:        return {{%\w+}}, [[COS]], [[Z]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>

// Before a conversion there are fewer bytes; a residual as large as its operand is saved itself
// RUN: --pipeline "linearize{func=narrow}"
func.func @narrow(%a: tensor<4xbf16>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %s = stablehlo.sine %a : tensor<4xbf16>
  %w = stablehlo.convert %s : (tensor<4xbf16>) -> tensor<4xf32>
  %u = stablehlo.sine %t : tensor<4xf32>
  %n = stablehlo.negate %u : tensor<4xf32>
  %0 = stablehlo.multiply %w, %n : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @narrow.fwd(
// CHECK:        [[SINE:%\w+]] = stablehlo.sine {{%\w+}} : tensor<4xbf16>
// CHECK:        [[NEGATE:%\w+]] = stablehlo.negate
// CHECK:        return {{.*}}[[NEGATE]]{{.*}}[[SINE]]

// What a product reads is in memory anyway: it is not computed again in a kernel of its own, though
// one array instead of two could be saved
// RUN: --pipeline "linearize{func=product}"
func.func @product(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = stablehlo.sine %a : tensor<4x4xf32>
  %p = stablehlo.multiply %z, %z : tensor<4x4xf32>
  %0 = stablehlo.dot_general %p, %p, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// CHECK:      func.func @product.fwd(
// CHECK:        [[Z:%\w+]] = stablehlo.sine
// CHECK:        [[P:%\w+]] = stablehlo.multiply [[Z]], [[Z]]
// CHECK:        return {{.*}}[[Z]]{{.*}}[[P]]
