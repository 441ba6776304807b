// RUN: --pipeline "widen"

// What a sum has beyond 4 bits goes; a loop carries bytes.
func.func @main(%x: tensor<3xi8>, %n: tensor<i32>) -> tensor<3xi8> {
  %0 = stablehlo.convert %x : (tensor<3xi8>) -> tensor<3xi4>
  %1:2 = stablehlo.while(%i = %n, %y = %0) : tensor<i32>, tensor<3xi4>
   cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.add %y, %y : tensor<3xi4>
    stablehlo.return %i, %z : tensor<i32>, tensor<3xi4>
  }
  %2 = stablehlo.convert %1#1 : (tensor<3xi4>) -> tensor<3xi8>
  return %2 : tensor<3xi8>
}
// CHECK-NOT:  xi4>
// CHECK:      stablehlo.while({{.*}}, [[Y:%\w+]] = {{.*}}) : tensor<i32>, tensor<3xi8>
// CHECK:        [[SUM:%\w+]] = stablehlo.add [[Y]], [[Y]] : tensor<3xi8>
// CHECK-NEXT:   [[FOUR:%\w+]] = stablehlo.constant dense<4> : tensor<3xi8>
// CHECK-NEXT:   [[LOW:%\w+]] = stablehlo.shift_left [[SUM]], [[FOUR]]
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.shift_right_arithmetic [[LOW]], [[FOUR]]
// CHECK-NEXT:   stablehlo.return {{.*}}, [[Z]]

// Floats saturate.
func.func @saturate(%x: tensor<3xf32>) -> tensor<3xi8> {
  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xui4>
  %1 = stablehlo.convert %0 : (tensor<3xui4>) -> tensor<3xi8>
  return %1 : tensor<3xi8>
}
// CHECK-LABEL: func.func @saturate
// CHECK:        [[Y:%\w+]] = stablehlo.convert {{.*}} -> tensor<3xui8>
// CHECK:        stablehlo.clamp {{.*}}, [[Y]], {{.*}} : {{.*}}tensor<3xui8>
