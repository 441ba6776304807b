// Zeros are written in the order of their places, whatever the order they came in.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @fill_before_fill(%x: tensor<6xf32>) -> tensor<6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<1xf32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %x, %x : tensor<6xf32>
  %1 = stablehlo.dynamic_update_slice %0, %z, %c4 : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  %2 = stablehlo.dynamic_update_slice %1, %z, %c1 : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  %3 = stablehlo.dynamic_update_slice %2, %z, %c3 : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  return %3 : tensor<6xf32>
}
// CHECK:      func.func @fill_before_fill
// CHECK-DAG:    [[ONE:%\w+]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK-DAG:    [[THREE:%\w+]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK-DAG:    [[FOUR:%\w+]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK:        [[A:%\w+]] = stablehlo.dynamic_update_slice {{.*}}, [[ONE]]
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.dynamic_update_slice [[A]], {{.*}}, [[THREE]]
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[B]], {{.*}}, [[FOUR]]

// Where another value is written between them, they stay.
func.func @fills_of_two_values(%x: tensor<6xf32>) -> tensor<6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<1xf32>
  %u = stablehlo.constant dense<1.0> : tensor<1xf32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.add %x, %x : tensor<6xf32>
  %1 = stablehlo.dynamic_update_slice %0, %z, %c4 : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  %2 = stablehlo.dynamic_update_slice %1, %u, %c4 : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  %3 = stablehlo.dynamic_update_slice %2, %z, %c3 : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  return %3 : tensor<6xf32>
}
// CHECK:      func.func @fills_of_two_values
// CHECK-DAG:    [[THREE:%\w+]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK-DAG:    [[FOUR:%\w+]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK:        [[A:%\w+]] = stablehlo.dynamic_update_slice {{.*}}, [[FOUR]]
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.dynamic_update_slice [[A]], {{.*}}, [[FOUR]]
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[B]], {{.*}}, [[THREE]]
