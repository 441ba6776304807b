// Two rows read a matrix where it is, in whole vectors of its rows: no panel is laid out.
// CHIP: x86-64-v4
// RUN: --pipeline "blas{workers=2}"
func.func @main(%x: tensor<2x1024xf32>, %y: tensor<1024x1088xf32>) -> tensor<2x1088xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x1024xf32>, tensor<1024x1088xf32>) -> tensor<2x1088xf32>
  return %0 : tensor<2x1088xf32>
}
// CHECK:      func.func @product(
// CHECK-NOT:    vector.create_mask
// CHECK-NOT:    memref.load
// CHECK:        llvm.load {{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK:        vector.fma
// CHECK:      func.func @main
// CHECK:        flow.dispatch @product::@product(%arg0, %arg1)
// CHECK-NOT:  scipy_cblas
