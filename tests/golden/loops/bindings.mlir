// RUN: --pipeline "loops"

// The loop carries more arrays than a kernel binds: the small ones of a dtype are parts of one. The
// large one has a binding of its own.
func.func @main(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %x2: tensor<4xf32>, %x3: tensor<4xf32>, %x4: tensor<4xf32>, %x5: tensor<4xf32>, %x6: tensor<4xf32>, %x7: tensor<4xf32>, %x8: tensor<4xf32>, %x9: tensor<4xf32>, %x10: tensor<4xf32>, %x11: tensor<4xf32>, %x12: tensor<4xf32>, %x13: tensor<4xf32>, %x14: tensor<4xf32>, %x15: tensor<4xf32>, %l: tensor<5000xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<5000xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:18 = stablehlo.while(%k = %zero, %c0 = %x0, %c1 = %x1, %c2 = %x2, %c3 = %x3, %c4 = %x4, %c5 = %x5, %c6 = %x6, %c7 = %x7, %c8 = %x8, %c9 = %x9, %c10 = %x10, %c11 = %x11, %c12 = %x12, %c13 = %x13, %c14 = %x14, %c15 = %x15, %cl = %l) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5000xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %a0 = stablehlo.add %c0, %c1 : tensor<4xf32>
    %a1 = stablehlo.add %c1, %c2 : tensor<4xf32>
    %a2 = stablehlo.add %c2, %c3 : tensor<4xf32>
    %a3 = stablehlo.add %c3, %c4 : tensor<4xf32>
    %a4 = stablehlo.add %c4, %c5 : tensor<4xf32>
    %a5 = stablehlo.add %c5, %c6 : tensor<4xf32>
    %a6 = stablehlo.add %c6, %c7 : tensor<4xf32>
    %a7 = stablehlo.add %c7, %c8 : tensor<4xf32>
    %a8 = stablehlo.add %c8, %c9 : tensor<4xf32>
    %a9 = stablehlo.add %c9, %c10 : tensor<4xf32>
    %a10 = stablehlo.add %c10, %c11 : tensor<4xf32>
    %a11 = stablehlo.add %c11, %c12 : tensor<4xf32>
    %a12 = stablehlo.add %c12, %c13 : tensor<4xf32>
    %a13 = stablehlo.add %c13, %c14 : tensor<4xf32>
    %a14 = stablehlo.add %c14, %c15 : tensor<4xf32>
    %a15 = stablehlo.add %c15, %c0 : tensor<4xf32>
    %l1 = stablehlo.add %cl, %cl : tensor<5000xf32>
    stablehlo.return %k1, %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %l1 : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5000xf32>
  }
  return %0#1, %0#16, %0#17 : tensor<4xf32>, tensor<4xf32>, tensor<5000xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     stablehlo.while
// CHECK:         [[X:%\w+]] = stablehlo.concatenate %arg0, %arg1, {{.*}} %arg15, dim = 0
// CHECK:         [[R:%\w+]]:3 = flow.dispatch @kernel::@kernel([[X]], %arg16) : (tensor<64xf32>, tensor<5000xf32>) -> (tensor<1xi32>, tensor<64xf32>, tensor<5000xf32>)
// CHECK:         [[S0:%\w+]] = stablehlo.slice [[R]]#1 [0:4]
// CHECK:         [[A:%\w+]] = stablehlo.optimization_barrier [[S0]]
// CHECK:         [[S1:%\w+]] = stablehlo.slice [[R]]#1 [60:64]
// CHECK:         [[B:%\w+]] = stablehlo.optimization_barrier [[S1]]
// CHECK:         return [[A]], [[B]], [[R]]#2
