// Products of matrices with vectors read each matrix once: there is a workgroup for each large one,
// and one for as many small ones.
// RUN: --pipeline "blas{workers=2 always=true}"
// CHECK:      stream.executable private @product_1
// CHECK:        %[[SMALL:.*]] = arith.constant 4 : index
// CHECK:        stream.return %[[SMALL]], %{{.*}}, %{{.*}}
// CHECK:      stream.executable private @product
// CHECK:        %[[LARGE:.*]] = arith.constant 8 : index
// CHECK:        stream.return %[[LARGE]], %{{.*}}, %{{.*}}
func.func @main(%x: tensor<8x2048x64xf32>, %y: tensor<8x64xf32>, %z: tensor<16x256x128xf32>, %v: tensor<16x128xf32>) -> (tensor<8x2048xf32>, tensor<16x256xf32>) {
  %0 = stablehlo.dot_general %z, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x256x128xf32>, tensor<16x128xf32>) -> tensor<16x256xf32>
  %1 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x2048x64xf32>, tensor<8x64xf32>) -> tensor<8x2048xf32>
  return %1, %0 : tensor<8x2048xf32>, tensor<16x256xf32>
}
