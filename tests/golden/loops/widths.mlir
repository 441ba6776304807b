// RUN: --pipeline "loops"

// Vectors of 45 elements are divided into the first 32 and the last 16 of them. A move takes the
// whole.
func.func @main(%x: tensor<45xi32>, %n: tensor<i32>) -> tensor<45xi32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<45xi32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.multiply %y, %x : tensor<45xi32>
    %b = stablehlo.add %a, %x : tensor<45xi32>
    %c = stablehlo.reverse %b, dims = [0] : tensor<45xi32>
    stablehlo.return %j, %c : tensor<i32>, tensor<45xi32>
  }
  return %0#1 : tensor<45xi32>
}
// CHECK-LABEL: func.func @kernel(
// CHECK:         [[X0:%\w+]] = vector.load %0[{{%\w+}}] : {{.*}}, vector<32xi32>
// CHECK:         [[P:%\w+]] = arith.addi {{%\w+}}, %c29
// CHECK:         [[X1:%\w+]] = vector.load %0[[[P]]] : {{.*}}, vector<16xi32>
// CHECK:         scf.while
// CHECK:         } do {
// CHECK:         [[Y0:%\w+]] = vector.shuffle [[Y:%\w+]], [[Y]] [0, 1, {{.*}}, 31] : vector<45xi32>, vector<45xi32>
// CHECK-NEXT:    [[Y1:%\w+]] = vector.shuffle [[Y]], [[Y]] [29, 30, {{.*}}, 44] : vector<45xi32>, vector<45xi32>
// CHECK:         [[A0:%\w+]] = arith.muli [[Y0]], [[X0]] : vector<32xi32>
// CHECK-NEXT:    [[A1:%\w+]] = arith.muli [[Y1]], [[X1]] : vector<16xi32>
// CHECK-NEXT:    [[B0:%\w+]] = arith.addi [[A0]], [[X0]] : vector<32xi32>
// CHECK-NEXT:    [[B1:%\w+]] = arith.addi [[A1]], [[X1]] : vector<16xi32>
// CHECK-NEXT:    [[W:%\w+]] = vector.shuffle [[B1]], [[B1]]
// CHECK-NEXT:    [[B:%\w+]] = vector.shuffle [[B0]], [[W]] [0, 1, {{.*}}, 31, 35, 36, {{.*}}, 47] : vector<32xi32>, vector<32xi32>
// CHECK-NEXT:    vector.shuffle [[B]], [[B]] [44, 43,
// CHECK:         vector.store {{%\w+}}, {{.*}}, vector<32xi32>
// CHECK:         vector.store {{%\w+}}, {{.*}}, vector<16xi32>
// CHECK-NEXT:    return
