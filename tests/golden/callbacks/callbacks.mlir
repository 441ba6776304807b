// Callbacks become calls of host functions; those with effects take a token and give the next one,
// through loops and branches. What a condition does is done before the loop, and by each step.
// RUN: --pipeline "callbacks"
func.func @straight(%x: tensor<3xf32>) -> tensor<3xf32> {
  stablehlo.custom_call @irax.callback(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "look", kind = "debug", ordered = false, vmap_method = ""}} : (tensor<3xf32>) -> ()
  %0 = stablehlo.custom_call @irax.callback(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {key = "sin", kind = "pure", ordered = false, vmap_method = ""}} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @irax.callback(%0) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "count", kind = "io", ordered = true, vmap_method = ""}} : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
// CHECK:      func.func @straight([[X:%\w+]]
// CHECK:        [[START:%\w+]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK:        [[T:%\w+]] = stablehlo.custom_call @irax_host.action([[X]], [[START]]) {{.*}}backend_config = {key = "look"}, has_side_effect = true} : (tensor<3xf32>, tensor<i32>) -> tensor<i32>
// CHECK:        [[Y:%\w+]] = stablehlo.custom_call @irax_host.callback([[X]]) {{.*}}backend_config = {key = "sin"}{{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK:        [[Z:%\w+]]:2 = stablehlo.custom_call @irax_host.action([[Y]], [[T]]) {{.*}}key = "count"
// CHECK:        return [[Z]]#0

func.func @loop(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %c = stablehlo.constant dense<9> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %n : tensor<i32>
    "stablehlo.case"(%i) ({
      stablehlo.custom_call @irax.callback(%1) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "look", kind = "debug", ordered = false, vmap_method = ""}} : (tensor<i32>) -> ()
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i32>) -> ()
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
// CHECK:      func.func @loop([[N:%\w+]]
// CHECK:        [[START:%\w+]] = stablehlo.constant dense<0>
// CHECK:        [[R:%\w+]]:2 = stablehlo.while([[I:%\w+]] = [[N]], [[T:%\w+]] = [[START]])
// CHECK:        do {
// CHECK:          [[NEXT:%\w+]] = stablehlo.add [[I]], [[N]]
// CHECK:          [[U:%\w+]] = "stablehlo.case"([[I]])
// CHECK:            [[V:%\w+]] = stablehlo.custom_call @irax_host.action([[NEXT]], [[T]])
// CHECK:            stablehlo.return [[V]] : tensor<i32>
// CHECK:            stablehlo.return [[T]] : tensor<i32>
// CHECK:          stablehlo.return [[NEXT]], [[U]]
// CHECK:        stablehlo.custom_call @irax_host.end([[R]]#1)
// CHECK:        return [[R]]#0

func.func @condition(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %p = stablehlo.custom_call @irax.callback(%i) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "more", kind = "io", ordered = false, vmap_method = ""}} : (tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %n : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
// CHECK:      func.func @condition([[N:%\w+]]
// CHECK:        [[P:%\w+]]:2 = stablehlo.custom_call @irax_host.action([[N]], {{%\w+}}) {{.*}} -> (tensor<i1>, tensor<i32>)
// CHECK:        [[R:%\w+]]:3 = stablehlo.while([[I:%\w+]] = [[N]], [[HOLDS:%\w+]] = [[P]]#0, [[T:%\w+]] = [[P]]#1)
// CHECK:        cond {
// CHECK-NEXT:     stablehlo.return [[HOLDS]]
// CHECK:        do {
// CHECK:          [[NEXT:%\w+]] = stablehlo.add [[I]], [[N]]
// CHECK:          [[Q:%\w+]]:2 = stablehlo.custom_call @irax_host.action([[NEXT]], [[T]])
// CHECK:          stablehlo.return [[NEXT]], [[Q]]#0, [[Q]]#1
// CHECK:        return [[R]]#0

// A host function that is not said to be free of effects takes no token.
func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @irax_host.sort(%x) {api_version = 4 : i32, backend_config = {dimension = 0 : i64}} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @other
// CHECK:         [[Y:%\w+]] = stablehlo.custom_call @irax_host.sort(%arg0)
// CHECK:         return [[Y]]
