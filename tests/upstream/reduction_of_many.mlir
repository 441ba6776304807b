// A kernel that reduces 17 arrays has 34 of them: IREE binds no more than 32.
// EXPECT: refused
// INPUT: [0.0, 1.5]
// INPUT: [1.0, 1.5]
// INPUT: [2.0, 1.5]
// INPUT: [3.0, 1.5]
// INPUT: [4.0, 1.5]
// INPUT: [5.0, 1.5]
// INPUT: [6.0, 1.5]
// INPUT: [7.0, 1.5]
// INPUT: [8.0, 1.5]
// INPUT: [9.0, 1.5]
// INPUT: [10.0, 1.5]
// INPUT: [11.0, 1.5]
// INPUT: [12.0, 1.5]
// INPUT: [13.0, 1.5]
// INPUT: [14.0, 1.5]
// INPUT: [15.0, 1.5]
// INPUT: [16.0, 1.5]
func.func @main(%x0: tensor<2xf32>, %x1: tensor<2xf32>, %x2: tensor<2xf32>, %x3: tensor<2xf32>, %x4: tensor<2xf32>, %x5: tensor<2xf32>, %x6: tensor<2xf32>, %x7: tensor<2xf32>, %x8: tensor<2xf32>, %x9: tensor<2xf32>, %x10: tensor<2xf32>, %x11: tensor<2xf32>, %x12: tensor<2xf32>, %x13: tensor<2xf32>, %x14: tensor<2xf32>, %x15: tensor<2xf32>, %x16: tensor<2xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r:17 = "stablehlo.reduce"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<f32>, %a5: tensor<f32>, %a6: tensor<f32>, %a7: tensor<f32>, %a8: tensor<f32>, %a9: tensor<f32>, %a10: tensor<f32>, %a11: tensor<f32>, %a12: tensor<f32>, %a13: tensor<f32>, %a14: tensor<f32>, %a15: tensor<f32>, %a16: tensor<f32>, %b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>, %b4: tensor<f32>, %b5: tensor<f32>, %b6: tensor<f32>, %b7: tensor<f32>, %b8: tensor<f32>, %b9: tensor<f32>, %b10: tensor<f32>, %b11: tensor<f32>, %b12: tensor<f32>, %b13: tensor<f32>, %b14: tensor<f32>, %b15: tensor<f32>, %b16: tensor<f32>):
    %s0 = stablehlo.add %a0, %b0 : tensor<f32>
    %s1 = stablehlo.add %a1, %b1 : tensor<f32>
    %s2 = stablehlo.add %a2, %b2 : tensor<f32>
    %s3 = stablehlo.add %a3, %b3 : tensor<f32>
    %s4 = stablehlo.add %a4, %b4 : tensor<f32>
    %s5 = stablehlo.add %a5, %b5 : tensor<f32>
    %s6 = stablehlo.add %a6, %b6 : tensor<f32>
    %s7 = stablehlo.add %a7, %b7 : tensor<f32>
    %s8 = stablehlo.add %a8, %b8 : tensor<f32>
    %s9 = stablehlo.add %a9, %b9 : tensor<f32>
    %s10 = stablehlo.add %a10, %b10 : tensor<f32>
    %s11 = stablehlo.add %a11, %b11 : tensor<f32>
    %s12 = stablehlo.add %a12, %b12 : tensor<f32>
    %s13 = stablehlo.add %a13, %b13 : tensor<f32>
    %s14 = stablehlo.add %a14, %b14 : tensor<f32>
    %s15 = stablehlo.add %a15, %b15 : tensor<f32>
    %s16 = stablehlo.add %a16, %b16 : tensor<f32>
    stablehlo.return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14, %s15, %s16 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
