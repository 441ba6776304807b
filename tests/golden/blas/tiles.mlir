// Windows are read where they are: rows that begin two pixels, 80 elements, apart. A tile has 6 rows
// and 4 vectors of the result, whose last columns a mask leaves out.
// CHIP: x86-64-v4
// RUN: --pipeline "blas{workers=2}"
func.func @main(%x: tensor<2x11x14x40xf32>, %y: tensor<3x3x40x50xf32>) -> tensor<2x9x6x50xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x11x14x40xf32>, tensor<3x3x40x50xf32>) -> tensor<2x9x6x50xf32>
  return %0 : tensor<2x9x6x50xf32>
}
// CHECK:      func.func @convolution(
// CHECK:        [[PANEL:%\w+]] = memref.alloca() alignment = 64 : memref<23040xf32>
// CHECK:        vector.create_mask
// CHECK:        llvm.intr.masked.load
// CHECK:        vector.store {{.*}}, [[PANEL]]
// CHECK:        [[SUMS:%\w+]]:24 = scf.for
// CHECK:          vector.load [[PANEL]]
// CHECK:          llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK:          vector.fma
// CHECK:        llvm.intr.masked.store([[SUMS]]#0
// CHECK:      func.func @main
// CHECK:        flow.dispatch @convolution::@convolution(%arg0, %arg1) : (tensor<2x11x14x40xf32>, tensor<3x3x40x50xf32>) -> tensor<2x9x6x50xf32>
// CHECK-NOT:  scipy_cblas
