// RUN: --pipeline "legalize{target=iree-cpu}"

// What a branch hands on as it was outside is chosen after it, where it is several arrays.
func.func @branch_returning_captured_value(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "stablehlo.case"(%i) ({
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    stablehlo.return %1, %1 : tensor<4xf32>, tensor<4xf32>
  }, {
    stablehlo.return %y, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func @branch_returning_captured_value([[I:%\w+]]: tensor<i32>, [[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>
// CHECK:        [[CASE:%\w+]]:2 = "stablehlo.case"([[I]])
// CHECK:          [[SUM:%\w+]] = stablehlo.add [[X]], [[Y]]
// CHECK:          stablehlo.return [[SUM]], [[SUM]]
// CHECK:          [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00>
// CHECK-NOT:      stablehlo.return [[Y]], [[X]]
// CHECK:        stablehlo.compare EQ, [[I]],
// CHECK:        stablehlo.select {{%\w+}}, [[CASE]]#0, [[Y]]
// CHECK:        stablehlo.select {{%\w+}}, [[CASE]]#1, [[X]]
