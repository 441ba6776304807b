// Equal products are one executable; transposes are part of the call; one of its factors is a
// vector, and numbers of half the width are multiplied as float32.
// RUN: --pipeline "blas{workers=2 always=true}"
// CHECK: stream.executable private @product_2
// CHECK: func.func private @scipy_cblas_sgemv64_
// CHECK: stream.executable private @product_1
// CHECK: stream.executable private @product
// CHECK: stream.return %c1{{.*}}, %c2
// CHECK: func.func private @scipy_cblas_sgemm64_
// CHECK-SAME: hal.import.static
func.func @main(%x: tensor<256x128xf32>, %y: tensor<512x128xf32>, %z: tensor<512x256xf32>, %v: tensor<256xbf16>) -> (tensor<256x512xf32>, tensor<256x512xf32>, tensor<512x256xf32>, tensor<512xbf16>) {
  // CHECK: func.func @main(%[[X:.*]]: tensor<256x128xf32>, %[[Y:.*]]: tensor<512x128xf32>, %[[Z:.*]]: tensor<512x256xf32>, %[[V:.*]]: tensor<256xbf16>)
  // CHECK-NOT: stablehlo.dot_general
  // CHECK-NOT: stablehlo.transpose
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<512x128xf32>) -> tensor<128x512xf32>
  // CHECK: %[[A:.*]] = flow.dispatch @product::@product(%[[X]], %[[Y]])
  %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<256x128xf32>, tensor<128x512xf32>) -> tensor<256x512xf32>
  // CHECK: %[[B:.*]] = flow.dispatch @product::@product(%[[X]], %[[Y]])
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<256x128xf32>, tensor<512x128xf32>) -> tensor<256x512xf32>
  // CHECK: %[[C:.*]] = flow.dispatch @product_1::@product_1(%[[X]], %[[Y]]) : (tensor<256x128xf32>, tensor<512x128xf32>) -> tensor<512x256xf32>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<256x128xf32>, tensor<512x128xf32>) -> tensor<256x512xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>
  // CHECK: %[[W:.*]] = stablehlo.convert %[[V]] : (tensor<256xbf16>) -> tensor<256xf32>
  // CHECK: %[[D:.*]] = flow.dispatch @product_2::@product_2(%[[Z]], %[[W]])
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

// A step of gradient descent is one call: the array in memory, less a multiple of the product.
func.func @update(%x: tensor<128x64xf32>, %y: tensor<128x96xf32>, %w: tensor<64x96xf32>, %v: tensor<96x64xf32>) -> (tensor<64x96xf32>, tensor<96x64xf32>) {
  // CHECK: func.func @update(%[[X:.*]]: tensor<128x64xf32>, %[[Y:.*]]: tensor<128x96xf32>, %[[W:.*]]: tensor<64x96xf32>, %[[V:.*]]: tensor<96x64xf32>)
  %rate = stablehlo.constant dense<1.000000e-01> : tensor<64x96xf32>
  // CHECK-NOT: stablehlo.{{multiply|subtract|add}}
  // CHECK: %[[A:.*]] = flow.dispatch @product{{.*}}(%[[X]], %[[Y]], %[[W]])
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %1 = stablehlo.multiply %rate, %0 : tensor<64x96xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x96xf32>
  // CHECK: %[[B:.*]] = flow.dispatch @product{{.*}}(%[[X]], %[[Y]], %[[V]])
  %3 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<64x96xf32>) -> tensor<96x64xf32>
  %5 = stablehlo.add %4, %v : tensor<96x64xf32>
  // CHECK: return %[[A]], %[[B]]
  return %2, %5 : tensor<64x96xf32>, tensor<96x64xf32>
}

// What IREE fuses stays a sum, as does one whose product has another user; and zero times a product
// of infinities is NaN.
func.func @sums(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: func.func @sums(%[[X:.*]]: tensor<64x64xf32>, %[[Y:.*]]: tensor<64x64xf32>)
  // CHECK-COUNT-3: flow.dispatch @product{{.*}}(%[[X]], %[[Y]]) :
  // CHECK-NOT: flow.dispatch
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.add %x, %0 : tensor<64x64xf32>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = stablehlo.multiply %zero, %2 : tensor<64x64xf32>
  %4 = stablehlo.add %x, %3 : tensor<64x64xf32>
  %5 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %6 = stablehlo.add %x, %5 : tensor<64x64xf32>
  %7 = stablehlo.tanh %6 : tensor<64x64xf32>
  %8 = stablehlo.tanh %y : tensor<64x64xf32>
  return %0, %1, %4, %7, %8 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
