// Equal products are one executable; transposes are part of the call; one of its factors is a
// vector, and numbers of half the width are multiplied as float32.
// RUN: --pipeline "blas{workers=2 always=true}"
// CHECK: stream.executable private @product_2
// CHECK: stream.return %c1{{.*}}, %c2
// CHECK: func.func private @scipy_cblas_sgemm64_
// CHECK-SAME: hal.import.static
// CHECK: stream.executable private @product_1
// CHECK: stream.executable private @product
// CHECK: func.func private @scipy_cblas_sgemv64_
func.func @main(%x: tensor<256x128xf32>, %y: tensor<512x128xf32>, %z: tensor<512x256xf32>, %v: tensor<256xbf16>) -> (tensor<256x512xf32>, tensor<256x512xf32>, tensor<512x256xf32>, tensor<512xbf16>) {
  // CHECK: func.func @main(%[[X:.*]]: tensor<256x128xf32>, %[[Y:.*]]: tensor<512x128xf32>, %[[Z:.*]]: tensor<512x256xf32>, %[[V:.*]]: tensor<256xbf16>)
  // CHECK-NOT: stablehlo.dot_general
  // CHECK-NOT: stablehlo.transpose
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<512x128xf32>) -> tensor<128x512xf32>
  // CHECK: %[[A:.*]] = flow.dispatch @product_2::@product_2(%[[X]], %[[Y]])
  %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<256x128xf32>, tensor<128x512xf32>) -> tensor<256x512xf32>
  // CHECK: %[[B:.*]] = flow.dispatch @product_2::@product_2(%[[X]], %[[Y]])
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<256x128xf32>, tensor<512x128xf32>) -> tensor<256x512xf32>
  // CHECK: %[[C:.*]] = flow.dispatch @product_1::@product_1(%[[X]], %[[Y]]) : (tensor<256x128xf32>, tensor<512x128xf32>) -> tensor<512x256xf32>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<256x128xf32>, tensor<512x128xf32>) -> tensor<256x512xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>
  // CHECK: %[[W:.*]] = stablehlo.convert %[[V]] : (tensor<256xbf16>) -> tensor<256xf32>
  // CHECK: %[[D:.*]] = flow.dispatch @product::@product(%[[Z]], %[[W]])
  // CHECK: stablehlo.convert %[[D]] : (tensor<512xf32>) -> tensor<512xbf16>
  %4 = stablehlo.dot_general %z, %v, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256xbf16>) -> tensor<512xbf16>
  return %0, %1, %3, %4 : tensor<256x512xf32>, tensor<256x512xf32>, tensor<512x256xf32>, tensor<512xbf16>
}

// What BLAS has no function for stays: integers, products without sums, and those of no elements.
func.func @others(%i: tensor<8x8xi32>, %x: tensor<8xf32>, %e: tensor<8x0xf32>, %f: tensor<0x8xf32>) -> (tensor<8x8xi32>, tensor<8x8xf32>, tensor<f32>, tensor<8x8xf32>) {
  // CHECK: func.func @others
  // CHECK-COUNT-4: stablehlo.dot_general
  %0 = stablehlo.dot_general %i, %i, contracting_dims = [1] x [0] : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [] x [] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %3 = stablehlo.dot_general %e, %f, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xi32>, tensor<8x8xf32>, tensor<f32>, tensor<8x8xf32>
}

// A step of gradient descent with its rate as an argument, and the sum of a transposed product.
func.func @update(%x: tensor<128x64xf32>, %y: tensor<128x96xf32>, %w: tensor<64x96xf32>, %v: tensor<96x64xf32>, %rate: tensor<f32>) -> (tensor<64x96xf32>, tensor<96x64xf32>) {
  // CHECK: func.func @update(%[[X:.*]]: tensor<128x64xf32>, %[[Y:.*]]: tensor<128x96xf32>, %[[W:.*]]: tensor<64x96xf32>, %[[V:.*]]: tensor<96x64xf32>, %[[R:.*]]: tensor<f32>)
  // CHECK-NOT: stablehlo.{{multiply|subtract|add}}
  // CHECK-DAG: %[[A:.*]] = flow.dispatch @product{{.*}}(%[[X]], %[[Y]], %[[R]], %[[W]])
  %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x96xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %1 = stablehlo.multiply %rates, %0 : tensor<64x96xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x96xf32>
  // CHECK-DAG: %[[B:.*]] = flow.dispatch @product{{.*}}(%[[X]], %[[Y]], %[[V]])
  %3 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<64x96xf32>) -> tensor<96x64xf32>
  %5 = stablehlo.add %4, %v : tensor<96x64xf32>
  // CHECK: return %[[A]], %[[B]]
  return %2, %5 : tensor<64x96xf32>, tensor<96x64xf32>
}

// A layer with a bias gives what is used: the activation and its mask. A cheap operation that
// another epilogue needs is computed again, so that its result need not be in memory.
func.func @layers(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>, %b: tensor<48xf32>, %u: tensor<48x48xf32>) -> (tensor<64x48xf32>, tensor<64x48xi1>, tensor<64x48xf32>) {
  // CHECK: func.func @layers(%[[X:.*]]: tensor<64x32xf32>, %[[W:.*]]: tensor<32x48xf32>, %[[B:.*]]: tensor<48xf32>, %[[U:.*]]: tensor<48x48xf32>)
  // CHECK-NEXT: %[[L:.*]]:2 = flow.dispatch @product{{.*}}(%[[X]], %[[W]], %[[B]]) : {{.*}} -> (tensor<64x48xf32>, tensor<64x48xi1>)
  // CHECK-NEXT: %[[M:.*]] = flow.dispatch @product{{.*}}(%[[L]]#0, %[[U]], %[[L]]#0)
  // CHECK-NEXT: return %[[L]]#0, %[[L]]#1, %[[M]]
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<64x48xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<48xf32>) -> tensor<64x48xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x48xf32>
  %3 = stablehlo.compare GT, %2, %zero : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xi1>
  %4 = stablehlo.maximum %2, %zero : tensor<64x48xf32>
  %5 = stablehlo.multiply %4, %4 : tensor<64x48xf32>
  %6 = stablehlo.subtract %5, %4 : tensor<64x48xf32>
  %7 = stablehlo.dot_general %4, %u, contracting_dims = [1] x [0] : (tensor<64x48xf32>, tensor<48x48xf32>) -> tensor<64x48xf32>
  %8 = stablehlo.multiply %7, %5 : tensor<64x48xf32>
  %9 = stablehlo.add %8, %6 : tensor<64x48xf32>
  return %4, %3, %9 : tensor<64x48xf32>, tensor<64x48xi1>, tensor<64x48xf32>
}

// What a product is not broadcast to, what depends on it by another operation, and what has no
// memory of the product's dtype stay outside.
func.func @outside(%x: tensor<64x32xf32>, %y: tensor<32x48xf32>, %z: tensor<64xf32>) -> (tensor<64x48xi1>, tensor<64x48xf32>) {
  // CHECK: func.func @outside
  // CHECK: %[[O:.*]] = flow.dispatch @product{{.*}} -> tensor<64x48xf32>
  // CHECK: stablehlo.compare GT, %[[O]]
  // CHECK: %[[P:.*]] = flow.dispatch @product{{.*}} -> tensor<64x48xf32>
  // CHECK: stablehlo.reduce(%[[P]]
  // CHECK: stablehlo.subtract %[[P]]
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<64x48xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.compare GT, %0, %zeros : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xi1>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x48xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<64xf32>) -> tensor<64x48xf32>
  %5 = stablehlo.subtract %2, %4 : tensor<64x48xf32>
  return %1, %5 : tensor<64x48xi1>, tensor<64x48xf32>
}
