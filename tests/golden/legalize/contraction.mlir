// A sum over nothing is zero.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @empty_contraction(%x: tensor<3x0xf32>, %y: tensor<0x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// CHECK:      func.func @empty_contraction
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<3x2xf32>
// CHECK-NEXT:   return [[ZERO]]

// Narrow floats are multiplied as they are, and summed in float32.
func.func @narrow_contraction(%x: tensor<3x4xbf16>, %y: tensor<4x2xbf16>) -> tensor<3x2xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4xbf16>, tensor<4x2xbf16>) -> tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}
// CHECK:      func.func @narrow_contraction([[X:%\w+]]: tensor<3x4xbf16>, [[Y:%\w+]]: tensor<4x2xbf16>
// CHECK-NEXT:   [[SUM:%\w+]] = stablehlo.dot_general [[X]], [[Y]], {{.*}} -> tensor<3x2xf32>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.convert [[SUM]] : (tensor<3x2xf32>) -> tensor<3x2xbf16>
// CHECK-NEXT:   return [[R]]

// Whether any product of booleans holds is a matter of counting.
func.func @contraction_of_booleans(%x: tensor<3x4xi1>, %y: tensor<4x2xi1>) -> tensor<3x2xi1> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4xi1>, tensor<4x2xi1>) -> tensor<3x2xi1>
  return %0 : tensor<3x2xi1>
}
// CHECK:      func.func @contraction_of_booleans
// CHECK:        [[COUNT:%\w+]] = stablehlo.dot_general {{.*}} -> tensor<3x2xi32>
// CHECK-NEXT:   stablehlo.convert [[COUNT]] : (tensor<3x2xi32>) -> tensor<3x2xi1>

func.func @narrow_reduction(%x: tensor<4xf16>) -> tensor<f16> {
  %c = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
  return %0 : tensor<f16>
}
// CHECK:      func.func @narrow_reduction([[X:%\w+]]: tensor<4xf16>
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK:        [[SUM:%\w+]] = stablehlo.reduce([[WIDE]] init: {{.*}} -> tensor<f32>
// CHECK-NEXT:   stablehlo.convert [[SUM]] : (tensor<f32>) -> tensor<f16>

// The largest of narrow floats is one of them: nothing to widen.
func.func @maximum(%x: tensor<4xf16>) -> tensor<f16> {
  %c = stablehlo.constant dense<0xFC00> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
  return %0 : tensor<f16>
}
// CHECK:      func.func @maximum
// CHECK-NOT:    stablehlo.convert
// CHECK:        return

// IREE's own algorithm takes the place of any other.
func.func @contraction_by_algorithm(%x: tensor<3x4xf32>, %y: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// CHECK:      func.func @contraction_by_algorithm
// CHECK-NEXT:   stablehlo.dot_general
// CHECK-NOT:      algorithm
// CHECK:        return

// With nothing to fold, the init value counts all the same.
func.func @reduction_of_one(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @reduction_of_one
// CHECK-NEXT:   [[INIT:%\w+]] = stablehlo.broadcast_in_dim %arg1, dims = []
// CHECK-NEXT:   stablehlo.add [[INIT]], %arg0

// Rows are folded a vector at a time, as far as that goes. What is computed for the fold alone is
// computed for both parts.
func.func @reduction_of_uneven_rows(%x: tensor<10x3x7xf32>, %y: tensor<10x100xf32>, %z: tensor<10xf32>, %init: tensor<f32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<10x3x7xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<10xf32>) -> tensor<10x100xf32>
  %2 = stablehlo.subtract %y, %1 : tensor<10x100xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<10x100xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10x100xf32>, tensor<f32>) -> tensor<10xf32>
  return %0, %4 : tensor<10xf32>, tensor<10xf32>
}
// CHECK:      func.func @reduction_of_uneven_rows([[X:%\w+]]: {{.*}}, [[Y:%\w+]]: tensor<10x100xf32>, [[Z:%\w+]]: tensor<10xf32>, [[INIT:%\w+]]: tensor<f32>)
// CHECK:        [[ROWS:%\w+]] = stablehlo.reshape [[X]] : (tensor<10x3x7xf32>) -> tensor<10x21xf32>
// CHECK-DAG:    [[LOW:%\w+]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-DAG:    [[A:%\w+]] = stablehlo.slice [[ROWS]] [0:10, 0:16]
// CHECK-DAG:    [[B:%\w+]] = stablehlo.slice [[ROWS]] [0:10, 16:21]
// CHECK:        [[FA:%\w+]] = stablehlo.reduce([[A]] init: [[INIT]]) applies stablehlo.maximum
// CHECK:        [[FB:%\w+]] = stablehlo.reduce([[B]] init: [[LOW]]) applies stablehlo.maximum
// CHECK:        stablehlo.maximum [[FA]], [[FB]]
// CHECK:        [[C:%\w+]] = stablehlo.slice [[Y]] [0:10, 0:96]
// CHECK:        [[D:%\w+]] = stablehlo.slice [[Y]] [0:10, 96:100]
// CHECK:        [[SC:%\w+]] = stablehlo.subtract [[C]], {{.*}} : tensor<10x96xf32>
// CHECK:        [[SD:%\w+]] = stablehlo.subtract [[D]], {{.*}} : tensor<10x4xf32>
// CHECK:        [[MC:%\w+]] = stablehlo.multiply [[SC]], [[SC]]
// CHECK:        [[MD:%\w+]] = stablehlo.multiply [[SD]], [[SD]]
// CHECK:        stablehlo.reduce([[MC]]
// CHECK:        stablehlo.reduce([[MD]]

// What somebody else needs as well is computed once.
func.func @reduction_of_used(%x: tensor<10x100xf32>) -> (tensor<10xf32>, tensor<10x100xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<10x100xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10x100xf32>, tensor<f32>) -> tensor<10xf32>
  return %1, %0 : tensor<10xf32>, tensor<10x100xf32>
}
// CHECK:      func.func @reduction_of_used
// CHECK:        [[E:%\w+]] = stablehlo.exponential
// CHECK-NOT:    stablehlo.exponential
// CHECK:        stablehlo.slice [[E]] [0:10, 0:96]
// CHECK:        return
