// What branches return and nobody uses, or return alike.

// RUN: --pipeline "simplify"

// x comes out whichever branch is taken; the cosine does not
func.func @same_in_all_branches(%p: tensor<i1>, %x: tensor<12xf32>)
    -> (tensor<12xf32>, tensor<12xf32>) {
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.cosine %x : tensor<12xf32>
    stablehlo.return %1, %x : tensor<12xf32>, tensor<12xf32>
  }, {
    stablehlo.return %x, %x : tensor<12xf32>, tensor<12xf32>
  }) : (tensor<i1>) -> (tensor<12xf32>, tensor<12xf32>)
  return %0#0, %0#1 : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @same_in_all_branches([[P:%\w+]]: tensor<i1>, [[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[IF:%\w+]] = "stablehlo.if"([[P]])
// CHECK:        return [[IF]], [[X]]

// The sine is not used; the first and the last result are equal in each branch
func.func @unneeded_results(%i: tensor<i32>, %x: tensor<12xf32>)
    -> (tensor<12xf32>, tensor<12xf32>) {
  %0:3 = "stablehlo.case"(%i) ({
    %1 = stablehlo.sine %x : tensor<12xf32>
    %2 = stablehlo.cosine %x : tensor<12xf32>
    stablehlo.return %2, %1, %2 : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  }, {
    stablehlo.return %x, %x, %x : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  }) : (tensor<i32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>)
  return %0#0, %0#2 : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @unneeded_results([[I:%\w+]]: tensor<i32>
// CHECK-NEXT:   [[CASE:%\w+]] = "stablehlo.case"([[I]])
// CHECK-NOT:    stablehlo.sine
// CHECK:        return [[CASE]], [[CASE]]
