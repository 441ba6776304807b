// RUN: --pipeline "progress"
// Short steps that tell how far a loop has come ask, before a block of them, how many it has.
func.func @short(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %done = stablehlo.multiply %i, %i : tensor<i32>
    %1 = stablehlo.custom_call @irax.callback(%n, %done) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "tell", kind = "progress", ordered = false, vmap_method = ""}} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.multiply %c, %x : tensor<f32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
// CHECK:      func.func @short([[N:%\w+]]
// CHECK:        [[ZERO:%\w+]] = stablehlo.constant dense<0>
// CHECK:        [[R:%\w+]]:2 = stablehlo.while([[I:%\w+]] = [[ZERO]], [[C:%\w+]] = {{.*}})
// CHECK:          stablehlo.compare LT, [[I]], [[N]]
// CHECK:        do {
// CHECK:          [[DONE:%\w+]] = stablehlo.multiply [[I]], [[I]]
// CHECK:          [[ASKED:%\w+]] = stablehlo.custom_call @irax.callback([[N]], [[DONE]])
// CHECK:          [[START:%\w+]] = stablehlo.constant dense<0>
// CHECK:          [[SIZE:%\w+]] = stablehlo.maximum [[ASKED]],
// CHECK:          [[B:%\w+]]:3 = stablehlo.while([[J:%\w+]] = [[I]], [[D:%\w+]] = [[C]], [[K:%\w+]] = [[START]])
// CHECK:            [[GOES:%\w+]] = stablehlo.compare LT, [[J]], [[N]]
// CHECK:            [[LEFT:%\w+]] = stablehlo.compare LT, [[K]], [[SIZE]]
// CHECK:            stablehlo.and [[GOES]], [[LEFT]]
// CHECK-NOT:      stablehlo.custom_call
// CHECK:          stablehlo.return [[B]]#0, [[B]]#1
// CHECK:        return [[R]]#1

// Long ones tell each time.
func.func @long(%n: tensor<i32>, %x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<128x128xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.custom_call @irax.callback(%n, %i) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "tell", kind = "progress", ordered = false, vmap_method = ""}} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.dot_general %c, %x, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<128x128xf32>
  }
  return %0#1 : tensor<128x128xf32>
}
// CHECK:      func.func @long([[N:%\w+]]
// CHECK:        stablehlo.while([[I:%\w+]] =
// CHECK:        do {
// CHECK:          stablehlo.custom_call @irax.callback([[N]], [[I]]) {{.*}}kind = "debug"{{.*}} -> ()
// CHECK-NOT:      stablehlo.while
// CHECK:        return

// Of a number that a step reads, nobody knows before it; and outside of loops there are no steps.
func.func @unknown(%n: tensor<i32>, %x: tensor<f32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %read = stablehlo.custom_call @irax.callback(%i) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "read", kind = "io", ordered = false, vmap_method = ""}} : (tensor<i32>) -> tensor<i32>
    %1 = stablehlo.custom_call @irax.callback(%n, %read) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "tell", kind = "progress", ordered = false, vmap_method = ""}} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }
  %3 = stablehlo.custom_call @irax.callback(%n, %n) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "tell", kind = "progress", ordered = false, vmap_method = ""}} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
// CHECK:      func.func @unknown(
// CHECK:        key = "read"
// CHECK-NOT:    key = "tell"
// CHECK:        return
