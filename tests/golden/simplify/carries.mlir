// What a loop carries and nobody needs, and what it carries twice.

// RUN: --pipeline "simplify"

// The sum of what is carried is not returned, nor what only it depends on; what the condition reads
// stays.
func.func @unneeded_carries(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %a = %x, %b = %x, %sum = %x)
      : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.sine %a : tensor<f32>
    %3 = stablehlo.cosine %b : tensor<f32>
    %4 = stablehlo.add %sum, %3 : tensor<f32>
    stablehlo.return %1, %2, %3, %4 : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
// CHECK:      func.func @unneeded_carries([[X:%\w+]]: tensor<f32>
// CHECK:        [[LOOP:%\w+]]:2 = stablehlo.while([[I:%\w+]] = {{%\w+}}, [[A:%\w+]] = [[X]]) : tensor<i32>, tensor<f32>
// CHECK:          stablehlo.compare LT, [[I]]
// CHECK-NOT:      stablehlo.cosine
// CHECK:          [[SINE:%\w+]] = stablehlo.sine [[A]]
// CHECK:          stablehlo.return {{%\w+}}, [[SINE]] : tensor<i32>, tensor<f32>
// CHECK:        return [[LOOP]]#1

// Each needs the other.
func.func @needed_by_another(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.sine %b : tensor<f32>
    stablehlo.return %1, %b, %2 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
// CHECK:      func.func @needed_by_another
// CHECK:        {{%\w+}}:3 = stablehlo.while

// What begins alike and changes places is one value; what is computed of both, too.
func.func @equal_carries(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %a = %x, %b = %x, %c = %x)
      : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1, %b, %a, %2 : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %0#1, %0#2, %0#3 : tensor<f32>, tensor<f32>, tensor<f32>
}
// CHECK:      func.func @equal_carries([[X:%\w+]]: tensor<f32>
// CHECK:        [[LOOP:%\w+]]:3 = stablehlo.while([[I:%\w+]] = {{%\w+}}, [[A:%\w+]] = [[X]], [[C:%\w+]] = [[X]]) : tensor<i32>, tensor<f32>, tensor<f32>
// CHECK:          [[SQUARE:%\w+]] = {{.*}} [[A]]
// CHECK:          stablehlo.return {{%\w+}}, [[A]], [[SQUARE]]
// CHECK:        return [[LOOP]]#1, [[LOOP]]#1, [[LOOP]]#2
