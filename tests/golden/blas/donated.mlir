// New weights are in the memory of donated ones. The product has memory of its own, because the
// weights are read after it.
// RUN: --pipeline "blas{workers=2 always=true},donation"
// CHECK: func.func @main({{.*}}, %[[W:.*]]: tensor<64x96xf32> {iree.abi.consume}, %[[V:.*]]: tensor<64x96xf32>) {{.*}}irax.donated = "2,3", irax.in_place = "2"{{.*}}irax.own = "0"
func.func @main(%x: tensor<128x64xf32>, %y: tensor<128x96xf32>, %w: tensor<64x96xf32> {iree.abi.consume}, %v: tensor<64x96xf32> {iree.abi.consume}) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  // CHECK: %[[B:.*]] = stablehlo.negate %[[V]]
  // CHECK: %[[A:.*]]:2 = flow.dispatch @product{{.*}} : (tensor<128x64xf32>, tensor<128x96xf32>, tensor<64x96xf32>) -> (tensor<64x96xf32>, %[[W]])
  // CHECK: return %[[A]]#1, %[[B]]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<64x96xf32>
  %2 = stablehlo.negate %v : tensor<64x96xf32>
  return %1, %2 : tensor<64x96xf32>, tensor<64x96xf32>
}

// An array that is read later, or returned, stays as it is.
func.func private @later(%x: tensor<128x64xf32>, %y: tensor<128x96xf32>, %w: tensor<64x96xf32> {iree.abi.consume}) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  // CHECK: func.func private @later
  // CHECK: flow.dispatch @product{{.*}} : (tensor<128x64xf32>, tensor<128x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<64x96xf32>
  return %1, %w : tensor<64x96xf32>, tensor<64x96xf32>
}
