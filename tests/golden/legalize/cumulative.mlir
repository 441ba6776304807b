// A long line is divided: a kernel folds each of its parts, another continues each from the fold of
// the parts before it, in blocks of 1024 elements. Vectors are folded by shifts of lanes.
// RUN: --pipeline "legalize{target=iree-cpu}"
// CHECK:      stream.executable private @[[SIDE:cumulative_\w+]]
// CHECK:        stream.return %c3{{.*}}, %c1
// CHECK:        arith.constant 64 : index
// CHECK:        vector.load {{.*}} vector<64xi32>
// CHECK-NEXT:   arith.maxsi
// CHECK:      stream.executable private @[[LINE:cumulative_\w+]]
// CHECK:        stream.return %c1{{.*}}, %c3
// CHECK:        arith.constant 1024 : index
// CHECK:        vector.load {{.*}} vector<16xbf16>
// CHECK-NEXT:   arith.extf
// CHECK-COUNT-4: vector.shuffle
// CHECK:        arith.truncf
// CHECK-NEXT:   vector.store
// CHECK:      stream.executable private @[[TOTALS:totals_\w+]]
// CHECK:        stream.return %c1{{.*}}, %c3
// CHECK:        vector.load {{.*}} vector<64xbf16>
func.func @a_long_line(%x: tensor<140000xbf16>) -> tensor<140000xbf16> {
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[139999, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 140000>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<140000xbf16>, tensor<bf16>) -> tensor<140000xbf16>
  return %0 : tensor<140000xbf16>
}
// CHECK:      func.func @a_long_line([[X:%\w+]]: tensor<140000xbf16>)
// CHECK:        [[SUMS:%\w+]] = flow.dispatch @[[TOTALS]]::@[[TOTALS]]([[X]]) : (tensor<140000xbf16>) -> tensor<3x1xf32>
// CHECK-NEXT:   flow.dispatch @[[LINE]]::@[[LINE]]([[X]], [[SUMS]])

// Lines side by side, from their ends: a vector has an element of each.
func.func @lines_side_by_side(%x: tensor<100x150xi32>) -> tensor<100x150xi32> {
  %z = stablehlo.constant dense<-2147483648> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[0, 99], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 100, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<100x150xi32>, tensor<i32>) -> tensor<100x150xi32>
  return %0 : tensor<100x150xi32>
}
// CHECK:      func.func @lines_side_by_side
// CHECK:        flow.dispatch @[[SIDE]]::@[[SIDE]]
