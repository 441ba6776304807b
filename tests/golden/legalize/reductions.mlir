// A kernel has 32 arrays at most: reductions of many are folded by elementwise operations.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @of_many(%x0: tensor<3xf32>, %x1: tensor<3xf32>, %x2: tensor<3xf32>, %x3: tensor<3xf32>, %x4: tensor<3xf32>, %x5: tensor<3xf32>, %x6: tensor<3xf32>, %x7: tensor<3xf32>, %x8: tensor<3xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r:9 = "stablehlo.reduce"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %z, %z, %z, %z, %z, %z, %z, %z, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<f32>, %a5: tensor<f32>, %a6: tensor<f32>, %a7: tensor<f32>, %a8: tensor<f32>, %b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>, %b4: tensor<f32>, %b5: tensor<f32>, %b6: tensor<f32>, %b7: tensor<f32>, %b8: tensor<f32>):
    %s0 = stablehlo.add %a0, %b0 : tensor<f32>
    %s1 = stablehlo.add %a1, %b1 : tensor<f32>
    %s2 = stablehlo.add %a2, %b2 : tensor<f32>
    %s3 = stablehlo.add %a3, %b3 : tensor<f32>
    %s4 = stablehlo.add %a4, %b4 : tensor<f32>
    %s5 = stablehlo.add %a5, %b5 : tensor<f32>
    %s6 = stablehlo.add %a6, %b6 : tensor<f32>
    %s7 = stablehlo.add %a7, %b7 : tensor<f32>
    %s8 = stablehlo.add %a8, %b8 : tensor<f32>
    stablehlo.return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @of_many
// CHECK-NOT:     stablehlo.reduce
// CHECK-COUNT-9: stablehlo.add {{.*}} : tensor<1xf32>
// CHECK:         return
