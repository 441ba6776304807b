// IREE binds at most 32 arrays to a kernel, and sorts in one kernel.
// EXPECT: refused
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
// INPUT: [3.0, 1.0, 2.0, 0.0]
func.func @main(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %x2: tensor<4xf32>, %x3: tensor<4xf32>, %x4: tensor<4xf32>, %x5: tensor<4xf32>, %x6: tensor<4xf32>, %x7: tensor<4xf32>, %x8: tensor<4xf32>, %x9: tensor<4xf32>, %x10: tensor<4xf32>, %x11: tensor<4xf32>, %x12: tensor<4xf32>, %x13: tensor<4xf32>, %x14: tensor<4xf32>, %x15: tensor<4xf32>, %x16: tensor<4xf32>, %x17: tensor<4xf32>, %x18: tensor<4xf32>, %x19: tensor<4xf32>, %x20: tensor<4xf32>, %x21: tensor<4xf32>, %x22: tensor<4xf32>, %x23: tensor<4xf32>, %x24: tensor<4xf32>, %x25: tensor<4xf32>, %x26: tensor<4xf32>, %x27: tensor<4xf32>, %x28: tensor<4xf32>, %x29: tensor<4xf32>, %x30: tensor<4xf32>, %x31: tensor<4xf32>, %x32: tensor<4xf32>, %x33: tensor<4xf32>, %x34: tensor<4xf32>, %x35: tensor<4xf32>, %x36: tensor<4xf32>, %x37: tensor<4xf32>, %x38: tensor<4xf32>, %x39: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:40 = "stablehlo.sort"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16, %x17, %x18, %x19, %x20, %x21, %x22, %x23, %x24, %x25, %x26, %x27, %x28, %x29, %x30, %x31, %x32, %x33, %x34, %x35, %x36, %x37, %x38, %x39) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>, %a2: tensor<f32>, %b2: tensor<f32>, %a3: tensor<f32>, %b3: tensor<f32>, %a4: tensor<f32>, %b4: tensor<f32>, %a5: tensor<f32>, %b5: tensor<f32>, %a6: tensor<f32>, %b6: tensor<f32>, %a7: tensor<f32>, %b7: tensor<f32>, %a8: tensor<f32>, %b8: tensor<f32>, %a9: tensor<f32>, %b9: tensor<f32>, %a10: tensor<f32>, %b10: tensor<f32>, %a11: tensor<f32>, %b11: tensor<f32>, %a12: tensor<f32>, %b12: tensor<f32>, %a13: tensor<f32>, %b13: tensor<f32>, %a14: tensor<f32>, %b14: tensor<f32>, %a15: tensor<f32>, %b15: tensor<f32>, %a16: tensor<f32>, %b16: tensor<f32>, %a17: tensor<f32>, %b17: tensor<f32>, %a18: tensor<f32>, %b18: tensor<f32>, %a19: tensor<f32>, %b19: tensor<f32>, %a20: tensor<f32>, %b20: tensor<f32>, %a21: tensor<f32>, %b21: tensor<f32>, %a22: tensor<f32>, %b22: tensor<f32>, %a23: tensor<f32>, %b23: tensor<f32>, %a24: tensor<f32>, %b24: tensor<f32>, %a25: tensor<f32>, %b25: tensor<f32>, %a26: tensor<f32>, %b26: tensor<f32>, %a27: tensor<f32>, %b27: tensor<f32>, %a28: tensor<f32>, %b28: tensor<f32>, %a29: tensor<f32>, %b29: tensor<f32>, %a30: tensor<f32>, %b30: tensor<f32>, %a31: tensor<f32>, %b31: tensor<f32>, %a32: tensor<f32>, %b32: tensor<f32>, %a33: tensor<f32>, %b33: tensor<f32>, %a34: tensor<f32>, %b34: tensor<f32>, %a35: tensor<f32>, %b35: tensor<f32>, %a36: tensor<f32>, %b36: tensor<f32>, %a37: tensor<f32>, %b37: tensor<f32>, %a38: tensor<f32>, %b38: tensor<f32>, %a39: tensor<f32>, %b39: tensor<f32>):
    %1 = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14, %0#15, %0#16, %0#17, %0#18, %0#19, %0#20, %0#21, %0#22, %0#23, %0#24, %0#25, %0#26, %0#27, %0#28, %0#29, %0#30, %0#31, %0#32, %0#33, %0#34, %0#35, %0#36, %0#37, %0#38, %0#39 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
