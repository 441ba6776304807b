// RUN: --pipeline "encode{target=iree-cpu}"

// Moves keep the bytes, and so do loops; a sum is of float32, and its bytes are put together.
func.func @main(%x: tensor<3xf8E3M4>, %n: tensor<i32>) -> tensor<3xf8E3M4> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<3xf8E3M4>
  %1:2 = stablehlo.while(%i = %n, %y = %0) : tensor<i32>, tensor<3xf8E3M4>
   cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.add %y, %y : tensor<3xf8E3M4>
    stablehlo.return %i, %z : tensor<i32>, tensor<3xf8E3M4>
  }
  return %1#1 : tensor<3xf8E3M4>
}
// CHECK-NOT:  xf8E3M4>
// CHECK:      func.func @main([[X:%\w+]]: tensor<3xui8>, {{.*}}) -> tensor<3xui8>
// CHECK-SAME: irax.args = "f8E3M4[3];i32[]"
// CHECK-NEXT: stablehlo.reverse [[X]], dims = [0] : tensor<3xui8>
// CHECK:      stablehlo.while({{.*}}, [[Y:%\w+]] = {{.*}}) : tensor<i32>, tensor<3xui8>
// CHECK:        stablehlo.map
// CHECK:        stablehlo.add {{.*}} : tensor<3xf32>
// CHECK:        [[Z:%\w+]] = "stablehlo.map"
// CHECK:        stablehlo.return {{.*}}, [[Z]] : tensor<i32>, tensor<3xui8>

// A sum is rounded once. Of constants the bytes remain.
func.func @total(%x: tensor<3xf8E4M3>) -> (tensor<f8E4M3>, tensor<f8E4M3>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3>
  %one = stablehlo.constant dense<1.0> : tensor<f8E4M3>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf8E4M3>, tensor<f8E4M3>) -> tensor<f8E4M3>
  return %0, %one : tensor<f8E4M3>, tensor<f8E4M3>
}
// CHECK-LABEL: func.func @total
// CHECK:       [[ONE:%\w+]] = stablehlo.constant dense<56> : tensor<ui8>
// CHECK:       stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
// CHECK:       return {{.*}}, [[ONE]]

// The least number of float8_e8m0fnu is subnormal in float32, so it is computed with in float64, and
// rounded as float32 is before the byte is made.
func.func @scales(%x: tensor<3xf8E8M0FNU>) -> tensor<3xf8E8M0FNU> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf8E8M0FNU>
  return %0 : tensor<3xf8E8M0FNU>
}
// CHECK-LABEL: func.func @scales
// CHECK:       [[PRODUCT:%\w+]] = stablehlo.multiply {{.*}} : tensor<3xf64>
// CHECK:       "stablehlo.map"([[PRODUCT]])
// CHECK:         stablehlo.round_nearest_even
// CHECK:         stablehlo.shift_right_logical {{.*}} : tensor<ui32>
// CHECK:       }) : (tensor<3xf32>) -> tensor<3xui8>
