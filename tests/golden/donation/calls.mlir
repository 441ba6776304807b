// Results of functions that stay apart are in memory of their own where kernels of these write them.
// RUN: --pipeline "donation"

// CHECK-LABEL: func.func @main
// CHECK-SAME:    irax.own = "0"
func.func @main(%x: tensor<4xf32> {iree.abi.consume}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:3 = func.call @apart(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The second result is in the memory of the third.
func.func private @apart(%x: tensor<4xf32> {iree.abi.consume}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {no_inline, noinline} {
  %0 = flow.dispatch @k::@f(%x) : (tensor<4xf32>) -> %x
  %1 = flow.dispatch @k::@f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x2xf32>) -> tensor<4xf32>
  return %0, %1, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// IREE would make one kernel of those of both operands, and of functions that it inlines.
// CHECK-LABEL: func.func @alike
// CHECK-NOT:     irax.own
func.func @alike(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = func.call @two(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = func.call @inlined(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0#0, %0#1, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {no_inline, noinline} {
  %0 = flow.dispatch @k::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = flow.dispatch @k::@f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

func.func private @inlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = flow.dispatch @k::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
