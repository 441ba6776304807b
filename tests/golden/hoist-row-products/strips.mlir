// RUN: --pipeline "hoist-row-products"

// The products of all rows would take two megabytes: each of eight strips of eight steps has one of
// its own, and writes eight rows of the result at a time.
func.func @strips(%xs: tensor<64x8x64xf32>, %w: tensor<64x1024xf32>, %c: tensor<8x4xf32>) -> tensor<64x8x4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<64> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<64x8x4xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %c, %ys = %none) : tensor<i32>, tensor<8x4xf32>, tensor<64x8x4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, %zero, sizes = [1, 8, 64] : (tensor<64x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x64xf32>
    %x = stablehlo.reshape %row : (tensor<1x8x64xf32>) -> tensor<8x64xf32>
    %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x1024xf32>) -> tensor<8x1024xf32>
    %part = stablehlo.slice %z [0:8, 0:4] : (tensor<8x1024xf32>) -> tensor<8x4xf32>
    %t = stablehlo.add %y, %part : tensor<8x4xf32>
    %r = stablehlo.reshape %t : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
    %s = stablehlo.dynamic_update_slice %ys, %r, %i, %zero, %zero : (tensor<64x8x4xf32>, tensor<1x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<64x8x4xf32>
    stablehlo.return %j, %t, %s : tensor<i32>, tensor<8x4xf32>, tensor<64x8x4xf32>
  }
  return %0#2 : tensor<64x8x4xf32>
}
// CHECK-LABEL: func.func @strips(
// CHECK-SAME:    [[XS:%\w+]]: tensor<64x8x64xf32>, [[W:%\w+]]: tensor<64x1024xf32>
// CHECK:       [[STRIPS:%\w+]] = stablehlo.reshape [[XS]] : (tensor<64x8x64xf32>) -> tensor<8x8x8x64xf32>
// CHECK:       [[OUTER:%\w+]]:3 = stablehlo.while([[J:%\w+]] = {{.*}} tensor<8x8x8x4xf32>
// CHECK:         [[STRIP:%\w+]] = stablehlo.dynamic_slice [[STRIPS]], [[J]], {{.*}} sizes = [1, 8, 8, 64]
// CHECK:         [[ROWS:%\w+]] = stablehlo.reshape [[STRIP]] : (tensor<1x8x8x64xf32>) -> tensor<8x8x64xf32>
// CHECK:         [[PRODUCT:%\w+]] = stablehlo.dot_general [[ROWS]], [[W]], contracting_dims = [2] x [0]
// CHECK:         [[INNER:%\w+]]:3 = stablehlo.while([[I:%\w+]] = {{.*}} tensor<8x8x4xf32>
// CHECK:           stablehlo.dynamic_slice [[PRODUCT]], [[I]], {{.*}} sizes = [1, 8, 1024]
// CHECK:           stablehlo.dynamic_update_slice {{%\w+}}, {{%\w+}}, [[I]]
// CHECK:         stablehlo.reshape [[INNER]]#2 : (tensor<8x8x4xf32>) -> tensor<1x8x8x4xf32>
// CHECK:         stablehlo.dynamic_update_slice {{%\w+}}, {{%\w+}}, [[J]]
// CHECK:       stablehlo.reshape [[OUTER]]#2 : (tensor<8x8x8x4xf32>) -> tensor<64x8x4xf32>
