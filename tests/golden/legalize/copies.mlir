// Reversals, concatenations of rows and pads of many elements are kernels that copy by vectors. What
// is in the same rows of the result is written together.
// RUN: --pipeline "legalize{target=iree-cpu}"
// CHECK:      stream.executable private @[[PAD:copy_\w+]]
// CHECK-COUNT-3: scf.if
// CHECK-NOT:    scf.if
// CHECK:      stream.executable private @[[ROWS:copy_\w+]]
// CHECK:        scf.if
// CHECK-NOT:    scf.if
// CHECK:      stream.executable private @[[FLIP:copy_\w+]]
// CHECK:        vector.shuffle
func.func @reverse_by_vectors(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<100x100xf32>
  return %0 : tensor<100x100xf32>
}
// CHECK:      func.func @reverse_by_vectors([[X:%\w+]]: tensor<100x100xf32>
// CHECK:        flow.dispatch @[[FLIP]]::@[[FLIP]]([[X]])

// Kernels of elementwise operations read arrays backwards.
func.func @reverse_by_vectors.read(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<100x100xf32>
  %1 = stablehlo.add %0, %x : tensor<100x100xf32>
  return %1 : tensor<100x100xf32>
}
// CHECK:      func.func @reverse_by_vectors.read([[X:%\w+]]: tensor<100x100xf32>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.reverse [[X]], dims = [1]
// CHECK-NEXT:   stablehlo.add [[R]], [[X]]

// Short rows are left to them.
func.func @reverse_by_vectors.short(%x: tensor<100x100x3xf32>) -> tensor<100x100x3xf32> {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<100x100x3xf32>
  return %0 : tensor<100x100x3xf32>
}
// CHECK:      func.func @reverse_by_vectors.short
// CHECK-NEXT:   stablehlo.reverse

// Slices are read from the array itself.
func.func @concatenate_by_vectors(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %a = stablehlo.slice %x [0:100, 0:30] : (tensor<100x100xf32>) -> tensor<100x30xf32>
  %b = stablehlo.slice %x [0:100, 30:100] : (tensor<100x100xf32>) -> tensor<100x70xf32>
  %0 = stablehlo.concatenate %b, %a, dim = 1 : (tensor<100x70xf32>, tensor<100x30xf32>) -> tensor<100x100xf32>
  return %0 : tensor<100x100xf32>
}
// CHECK:      func.func @concatenate_by_vectors([[X:%\w+]]: tensor<100x100xf32>
// CHECK:        flow.dispatch @[[ROWS]]::@[[ROWS]]([[X]])

func.func @pad_by_vectors(%x: tensor<100x100xf32>) -> tensor<103x102xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 1], high = [2, 1], interior = [0, 0] : (tensor<100x100xf32>, tensor<f32>) -> tensor<103x102xf32>
  return %0 : tensor<103x102xf32>
}
// CHECK:      func.func @pad_by_vectors([[X:%\w+]]: tensor<100x100xf32>
// CHECK:        flow.dispatch @[[PAD]]::@[[PAD]]([[X]])

// IREE copies whole arrays well.
func.func @whole(%x: tensor<100x100xf32>) -> tensor<200x100xf32> {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<200x100xf32>
  return %0 : tensor<200x100xf32>
}
// CHECK:      func.func @whole
// CHECK:        stablehlo.concatenate
