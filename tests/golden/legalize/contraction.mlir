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

// Large ones too, for chips that may have no instruction for them. For others contraction_of_bfloat16
// makes a dispatch.
func.func @contraction_of_bfloat16(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
// CHECK:      func.func @contraction_of_bfloat16
// CHECK-NEXT:   stablehlo.dot_general {{.*}} -> tensor<64x64xf32>

// Whether any product of booleans holds is a matter of counting.
func.func @contraction_of_booleans(%x: tensor<3x4xi1>, %y: tensor<4x2xi1>) -> tensor<3x2xi1> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4xi1>, tensor<4x2xi1>) -> tensor<3x2xi1>
  return %0 : tensor<3x2xi1>
}
// CHECK:      func.func @contraction_of_booleans
// CHECK:        [[COUNT:%\w+]] = stablehlo.dot_general {{.*}} -> tensor<3x2xi32>
// CHECK-NEXT:   stablehlo.convert [[COUNT]] : (tensor<3x2xi32>) -> tensor<3x2xi1>

// Integers of 8 bits are multiplied as floats for chips that may have no instruction for them.
// For others contraction_of_bytes makes a dispatch.
func.func @contraction_of_small_integers(%x: tensor<64x64xi8>, %y: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}
// CHECK:      func.func @contraction_of_small_integers
// CHECK:        [[SUM:%\w+]] = stablehlo.dot_general {{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:   stablehlo.convert [[SUM]] : (tensor<64x64xf32>) -> tensor<64x64xi32>

// Unsigned integers are widened so that IREE does not take that into the product, ...
func.func @contraction_of_unsigned(%x: tensor<3x4xui8>, %y: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.convert %x : (tensor<3x4xui8>) -> tensor<3x4xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
// CHECK:      func.func @contraction_of_unsigned([[X:%\w+]]: tensor<3x4xui8>
// CHECK-DAG:    [[BITS:%\w+]] = stablehlo.constant dense<255> : tensor<3x4xi32>
// CHECK-DAG:    [[WIDE:%\w+]] = stablehlo.convert [[X]] : (tensor<3x4xui8>) -> tensor<3x4xi32>
// CHECK:        [[SAME:%\w+]] = stablehlo.and [[WIDE]], [[BITS]]
// CHECK-NEXT:   [[FLOATS:%\w+]] = stablehlo.convert [[SAME]] : (tensor<3x4xi32>) -> tensor<3x4xf32>
// CHECK-NEXT:   stablehlo.dot_general [[FLOATS]],

// ... whatever moves them in between, and signed ones as they are.
func.func @unsigned_in_a_batch(%x: tensor<4xui16>, %y: tensor<4x2xi8>) -> tensor<1x2xi32> {
  %0 = stablehlo.convert %x : (tensor<4xui16>) -> tensor<4xi32>
  %1 = stablehlo.reshape %0 : (tensor<4xi32>) -> tensor<1x4xi32>
  %2 = stablehlo.convert %y : (tensor<4x2xi8>) -> tensor<4x2xi32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<1x4xi32>, tensor<4x2xi32>) -> tensor<1x2xi32>
  return %3 : tensor<1x2xi32>
}
// CHECK:      func.func @unsigned_in_a_batch(%arg0: tensor<4xui16>, [[Y:%\w+]]: tensor<4x2xi8>
// CHECK-DAG:    [[SIGNED:%\w+]] = stablehlo.convert [[Y]] : (tensor<4x2xi8>) -> tensor<4x2xi32>
// CHECK-DAG:    [[SAME:%\w+]] = stablehlo.and
// CHECK:        [[X:%\w+]] = stablehlo.reshape [[SAME]]
// CHECK:        stablehlo.dot_general [[X]], [[SIGNED]],

func.func @narrow_reduction(%x: tensor<4xf16>) -> tensor<f16> {
  %c = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
  return %0 : tensor<f16>
}
// CHECK:      func.func @narrow_reduction([[X:%\w+]]: tensor<4xf16>
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK:        [[SUM:%\w+]] = stablehlo.reduce([[WIDE]] init: {{.*}} -> tensor<f32>
// CHECK-NEXT:   stablehlo.convert [[SUM]] : (tensor<f32>) -> tensor<f16>

// The largest of narrow floats is one of them: nothing to widen for precision ...
func.func @maximum(%x: tensor<4xf16>) -> tensor<f16> {
  %c = stablehlo.constant dense<0xFC00> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
  return %0 : tensor<f16>
}
// CHECK:      func.func @maximum
// CHECK-NOT:    stablehlo.convert
// CHECK:        return

// ... but bfloat16 is compared faster as float32.
func.func @extremum_of_bfloat16(%x: tensor<4xbf16>) -> tensor<bf16> {
  %c = stablehlo.constant dense<0x7F80> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.minimum across dimensions = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}
// CHECK:      func.func @extremum_of_bfloat16
// CHECK:        [[X:%\w+]] = stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:        [[Y:%\w+]] = stablehlo.reduce([[X]] {{.*}} applies stablehlo.minimum
// CHECK-NEXT:   stablehlo.convert [[Y]] : (tensor<f32>) -> tensor<bf16>

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

// Sums of 100 products of bytes are exact in float32, those of 2000 in float64. There are few
// multiplications in the last one.
func.func @small_integers(%x: tensor<64x100xi8>, %y: tensor<100x64xui8>, %z: tensor<64x2000xi8>, %w: tensor<2000x64xi8>, %v: tensor<100xi8>) -> (tensor<64x64xi32>, tensor<64x64xi8>, tensor<64xi32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x100xi8>, tensor<100x64xui8>) -> tensor<64x64xi32>
  %1 = stablehlo.dot_general %z, %w, contracting_dims = [1] x [0] : (tensor<64x2000xi8>, tensor<2000x64xi8>) -> tensor<64x64xi8>
  %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<64x100xi8>, tensor<100xi8>) -> tensor<64xi32>
  return %0, %1, %2 : tensor<64x64xi32>, tensor<64x64xi8>, tensor<64xi32>
}
// CHECK-LABEL: func.func @small_integers
// CHECK:         [[A:%\w+]] = stablehlo.dot_general {{.*}} : (tensor<64x100xf32>, tensor<100x64xf32>) -> tensor<64x64xf32>
// CHECK-NEXT:    stablehlo.convert [[A]] : (tensor<64x64xf32>) -> tensor<64x64xi32>
// CHECK:         [[B:%\w+]] = stablehlo.dot_general {{.*}} : (tensor<64x2000xf64>, tensor<2000x64xf64>) -> tensor<64x64xf64>
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.convert [[B]] : (tensor<64x64xf64>) -> tensor<64x64xi32>
// CHECK-NEXT:    stablehlo.convert [[C]] : (tensor<64x64xi32>) -> tensor<64x64xi8>
// CHECK:         stablehlo.dot_general {{.*}} : (tensor<64x100xi8>, tensor<100xi8>) -> tensor<64xi32>
