// RUN: --pipeline "loops"

// CHECK:       stream.executable private @kernel_1
// CHECK:         func.func private @kernel_1_f_0(%arg0: vector<4xf32>)
// CHECK:       stream.executable private @kernel
// CHECK:         [[TWO:%\w+]] = arith.constant 2 : index
// CHECK:         stream.return [[TWO]]
// CHECK:         func.func private @kernel_f_0(%arg0: vector<32xf32>) -> vector<32xf32>
// CHECK-NEXT:      math.sin
// CHECK-NEXT:      arith.negf
// CHECK:         func.func @kernel(
// CHECK:           stream.dispatch.workgroup.id[0]
// CHECK:           scf.for
// CHECK-COUNT-16:    call @kernel_f_0

// A kernel that computes many formulas calls functions; workgroups share large arrays.
func.func @main(%x: tensor<5000xf32>, %y: tensor<f32>) -> tensor<5000xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> tensor<5000xf32>
  %1 = stablehlo.custom_call @irax.formula(%0) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %2 = stablehlo.custom_call @irax.formula(%1) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %3 = stablehlo.custom_call @irax.formula(%2) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %4 = stablehlo.custom_call @irax.formula(%3) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %5 = stablehlo.custom_call @irax.formula(%4) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %6 = stablehlo.custom_call @irax.formula(%5) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %7 = stablehlo.custom_call @irax.formula(%6) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %8 = stablehlo.custom_call @irax.formula(%7) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %9 = stablehlo.custom_call @irax.formula(%8) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %10 = stablehlo.custom_call @irax.formula(%9) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %11 = stablehlo.custom_call @irax.formula(%10) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %12 = stablehlo.custom_call @irax.formula(%11) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %13 = stablehlo.custom_call @irax.formula(%12) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %14 = stablehlo.custom_call @irax.formula(%13) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %15 = stablehlo.custom_call @irax.formula(%14) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %16 = stablehlo.custom_call @irax.formula(%15) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  %17 = stablehlo.add %16, %x : tensor<5000xf32>
  return %17 : tensor<5000xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK:         [[Y:%\w+]] = stablehlo.reshape %arg1 : (tensor<f32>) -> tensor<1xf32>
// CHECK:         flow.dispatch @kernel::@kernel(
// CHECK-NOT:     irax.formula

// So does one of few elements, ...
func.func @few(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = stablehlo.custom_call @irax.formula(%0) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @irax.formula(%1) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @irax.formula(%2) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @irax.formula(%3) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.custom_call @irax.formula(%4) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = stablehlo.custom_call @irax.formula(%5) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %7 = stablehlo.custom_call @irax.formula(%6) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %8 = stablehlo.custom_call @irax.formula(%7) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %9 = stablehlo.custom_call @irax.formula(%8) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %10 = stablehlo.custom_call @irax.formula(%9) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %11 = stablehlo.custom_call @irax.formula(%10) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %12 = stablehlo.custom_call @irax.formula(%11) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %13 = stablehlo.custom_call @irax.formula(%12) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %14 = stablehlo.custom_call @irax.formula(%13) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %15 = stablehlo.custom_call @irax.formula(%14) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %16 = stablehlo.custom_call @irax.formula(%15) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %16 : tensor<4xf32>
}
// CHECK-LABEL: func.func @few(
// CHECK:         flow.dispatch @kernel_1::@kernel_1(%arg0) : (tensor<4xf32>) -> tensor<4xf32>

// ... but a few formulas are written out.
func.func @one(%0: tensor<5000xf32>) -> tensor<5000xf32> {
  %1 = stablehlo.custom_call @irax.formula(%0) {api_version = 4 : i32, backend_config = {function = @f}, has_side_effect = false} : (tensor<5000xf32>) -> tensor<5000xf32>
  return %1 : tensor<5000xf32>
}
// CHECK-LABEL: func.func @one(
// CHECK:         [[M:%\w+]] = "stablehlo.map"(%arg0)
// CHECK:           stablehlo.sine
// CHECK:           stablehlo.negate
// CHECK:         return [[M]]

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.negate %0 : tensor<f32>
  return %1 : tensor<f32>
}
// CHECK-NOT:   @f(
