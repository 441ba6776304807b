// RUN: --pipeline "blas{workers=2 always=true},reductions{workers=2},fuse-kernels{workers=2}"

// Complex factors are in memory of the workgroup's own, which is written before the loop over parts.
func.func @factors(%x: tensor<8x20x20xcomplex<f32>>, %y: tensor<8x20x20xcomplex<f32>>) -> tensor<8x20x20xcomplex<f32>> {
  %first = stablehlo.dot_general %y, %x, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x20x20xcomplex<f32>>, tensor<8x20x20xcomplex<f32>>) -> tensor<8x20x20xcomplex<f32>>
  %second = stablehlo.dot_general %first, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x20x20xcomplex<f32>>, tensor<8x20x20xcomplex<f32>>) -> tensor<8x20x20xcomplex<f32>>
  return %second : tensor<8x20x20xcomplex<f32>>
}
// CHECK-LABEL: stream.executable private @chain
// CHECK:         func.func @chain(
// CHECK:         [[FACTOR:%\w+]] = memref.alloca() : memref<2xf32>
// CHECK:         memref.store {{.*}}, [[FACTOR]]
// CHECK:         memref.store {{.*}}, [[FACTOR]]
// CHECK-COUNT-6: memref.store
// CHECK-NOT:     memref.store
// CHECK:         scf.for
// CHECK-COUNT-2: func.call @scipy_cblas_cgemm64_
// CHECK-LABEL: func.func @factors
// CHECK:         flow.dispatch @chain::@chain
