// Tangents through the bits of floats.

// Bits that were chosen come back with the tangent of their float
// RUN: --pipeline "jvp{func=flush},symbol-dce,canonicalize"
func.func @flush(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %size = stablehlo.constant dense<0x7FFFFFFF> : tensor<4xi32>
  %least = stablehlo.constant dense<0x00800000> : tensor<4xi32>
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>
  %1 = stablehlo.and %0, %size : tensor<4xi32>
  %2 = stablehlo.compare LT, %1, %least : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %3 = stablehlo.select %2, %zero, %0 : tensor<4xi1>, tensor<4xi32>
  %4 = stablehlo.bitcast_convert %3 : (tensor<4xi32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
// CHECK:      func.func @flush.jvp([[X:%\w+]]: tensor<4xf32>, [[T:%\w+]]: tensor<4xf32>)
// CHECK-DAG:    [[ZEROS:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK:        [[SMALL:%\w+]] = stablehlo.compare LT
// CHECK-NEXT:   [[BITS:%\w+]] = stablehlo.select [[SMALL]], {{.*}} : tensor<4xi1>, tensor<4xi32>
// CHECK-NEXT:   [[TANGENT:%\w+]] = stablehlo.select [[SMALL]], [[ZEROS]], [[T]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[Y:%\w+]] = stablehlo.bitcast_convert [[BITS]]
// CHECK-NEXT:   return [[Y]], [[TANGENT]]
