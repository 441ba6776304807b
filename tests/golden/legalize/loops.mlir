// What is carried and never read comes to depend on what it was.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @overwritten_carry(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = stablehlo.while(%a = %x, %b = %y) : tensor<f32>, tensor<f32>
  cond {
    %ten = stablehlo.constant dense<10.0> : tensor<f32>
    %p = stablehlo.compare LT, %a, %ten : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.add %a, %a : tensor<f32>
    stablehlo.return %0, %a : tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
// CHECK:      func.func @overwritten_carry
// CHECK:        cond {
// CHECK:        } do {
// CHECK:          [[SUM:%\w+]] = stablehlo.add [[A:%\w+]], [[A]]
// CHECK:          [[HOLDS:%\w+]] = stablehlo.compare LT, [[A]], {{.*}}
// CHECK:          [[NEW:%\w+]] = stablehlo.select [[HOLDS]], [[A]], [[B:%\w+]]
// CHECK:          stablehlo.return [[SUM]], [[NEW]]

// A loop in a loop, both of which are rebuilt.
func.func @loop_in_loop(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = stablehlo.while(%a = %x, %b = %y) : tensor<f32>, tensor<f32>
  cond {
    %ten = stablehlo.constant dense<10.0> : tensor<f32>
    %p = stablehlo.compare LT, %a, %ten : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s:2 = stablehlo.while(%c = %a, %d = %y) : tensor<f32>, tensor<f32>
    cond {
      %ten = stablehlo.constant dense<20.0> : tensor<f32>
      %p = stablehlo.compare LT, %c, %ten : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %0 = stablehlo.multiply %c, %c : tensor<f32>
      stablehlo.return %0, %c : tensor<f32>, tensor<f32>
    }
    stablehlo.return %s#0, %s#1 : tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
// CHECK:      func.func @loop_in_loop
// CHECK:        stablehlo.while
// CHECK:        [[INNER:%\w+]]:2 = stablehlo.while
// CHECK:          stablehlo.multiply
// CHECK:          [[D:%\w+]] = stablehlo.select
// CHECK:          stablehlo.return {{%\w+}}, [[D]]
// CHECK:        [[B:%\w+]] = stablehlo.select {{%\w+}}, [[INNER]]#1
// CHECK:        stablehlo.return [[INNER]]#0, [[B]]

// A constant that a host function's result takes the place of is copied, out of sight of folding.
func.func @carried_constant(%n: tensor<i32>) -> tensor<2x2xf32> {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<2x2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.custom_call @irax_host.sort(%x) {api_version = 4 : i32, backend_config = {dimension = 0 : i64}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<2x2xf32>
  }
  return %r#1 : tensor<2x2xf32>
}
// CHECK:      func.func @carried_constant
// CHECK:        [[APART:%\w+]] = stablehlo.optimization_barrier
// CHECK:        [[COPY:%\w+]] = stablehlo.select {{%\w+}}, [[APART]]
// CHECK:        stablehlo.while({{.*}} = [[COPY]])
