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

// Two counters are one, and so are sums that each step makes of equal terms, in branches too; the
// last two values start alike, but a step makes different ones of them.
func.func @equal_steps(%x: tensor<f32>, %n: tensor<i32>, %p: tensor<i1>)
    -> (tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:6 = stablehlo.while(%i = %zero, %j = %zero, %a = %x, %b = %x, %c = %x, %d = %x)
      : tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %j, %one : tensor<i32>
    %3:2 = "stablehlo.if"(%p) ({
      %4 = stablehlo.sine %a : tensor<f32>
      %5 = stablehlo.sine %b : tensor<f32>
      stablehlo.return %4, %5 : tensor<f32>, tensor<f32>
    }, {
      stablehlo.return %b, %a : tensor<f32>, tensor<f32>
    }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %6 = stablehlo.cosine %c : tensor<f32>
    %7 = stablehlo.tanh %d : tensor<f32>
    stablehlo.return %1, %2, %3#0, %3#1, %6, %7
        : tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %0#1, %0#2, %0#3, %0#4, %0#5
      : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
// CHECK:      func.func @equal_steps([[X:%\w+]]: tensor<f32>
// CHECK:        [[LOOP:%\w+]]:4 = stablehlo.while([[I:%\w+]] = {{%\w+}}, [[A:%\w+]] = [[X]], [[C:%\w+]] = [[X]], [[D:%\w+]] = [[X]])
// CHECK:          [[IF:%\w+]] = "stablehlo.if"
// CHECK:          [[COSINE:%\w+]] = stablehlo.cosine [[C]]
// CHECK:          [[TANH:%\w+]] = stablehlo.tanh [[D]]
// CHECK:          stablehlo.return {{%\w+}}, [[IF]], [[COSINE]], [[TANH]]
// CHECK:        return [[LOOP]]#0, [[LOOP]]#1, [[LOOP]]#1, [[LOOP]]#2, [[LOOP]]#3

// Loops within loops: the inner one makes equal values of equal ones.
func.func @equal_in_a_loop(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:3 = stablehlo.while(%j = %zero, %c = %a, %d = %b) : tensor<i32>, tensor<f32>, tensor<f32>
    cond {
      %3 = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.add %j, %one : tensor<i32>
      %4 = stablehlo.sine %c : tensor<f32>
      %5 = stablehlo.sine %d : tensor<f32>
      stablehlo.return %3, %4, %5 : tensor<i32>, tensor<f32>, tensor<f32>
    }
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1#1, %1#2 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#1, %0#2 : tensor<f32>, tensor<f32>
}
// CHECK:      func.func @equal_in_a_loop
// CHECK:        [[LOOP:%\w+]]:2 = stablehlo.while
// CHECK:          {{%\w+}}:2 = stablehlo.while
// CHECK:        return [[LOOP]]#1, [[LOOP]]#1

// Arrays without elements are not carried, nor what computes them; a loop inside reads the one that
// the outer one begins with.
func.func @empty_carries(%x: tensor<f32>, %n: tensor<i32>, %e: tensor<0x3xf32>)
    -> (tensor<0x3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0:3 = stablehlo.while(%i = %zero, %a = %e, %b = %x) : tensor<i32>, tensor<0x3xf32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2:2 = stablehlo.while(%j = %zero, %c = %a) : tensor<i32>, tensor<0x3xf32>
    cond {
      %5 = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = stablehlo.add %j, %one : tensor<i32>
      %6 = stablehlo.sine %c : tensor<0x3xf32>
      stablehlo.return %5, %6 : tensor<i32>, tensor<0x3xf32>
    }
    %3 = stablehlo.reduce(%2#1 init: %init) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<0x3xf32>, tensor<f32>) -> tensor<f32>
    %4 = stablehlo.add %b, %3 : tensor<f32>
    %7 = stablehlo.cosine %4 : tensor<f32>
    stablehlo.return %1, %2#1, %7 : tensor<i32>, tensor<0x3xf32>, tensor<f32>
  }
  return %0#1, %0#2 : tensor<0x3xf32>, tensor<f32>
}
// CHECK:      func.func @empty_carries({{.*}}, [[E:%\w+]]: tensor<0x3xf32>)
// CHECK:        [[LOOP:%\w+]]:2 = stablehlo.while({{.*}}) : tensor<i32>, tensor<f32>
// CHECK-NOT:      stablehlo.sine
// CHECK:        return [[E]], [[LOOP]]#1

// Two counters that begin alike and grow alike are one; its bounds decide comparisons.
func.func @decided_comparison(%x: tensor<10xf32>) -> tensor<10xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %j = %zero, %a = %x) : tensor<i32>, tensor<i32>, tensor<10xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.compare LT, %j, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.add %j, %nine : tensor<i32>
    %3 = stablehlo.select %1, %2, %j : tensor<i1>, tensor<i32>
    %4 = stablehlo.dynamic_slice %a, %3, sizes = [1] : (tensor<10xf32>, tensor<i32>) -> tensor<1xf32>
    %5 = stablehlo.compare LT, %2, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.select %5, %zero, %one : tensor<i1>, tensor<i32>
    %7 = stablehlo.compare LT, %j, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %8 = stablehlo.select %7, %6, %one : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_update_slice %a, %4, %8 : (tensor<10xf32>, tensor<1xf32>, tensor<i32>) -> tensor<10xf32>
    %10 = stablehlo.add %i, %one : tensor<i32>
    %11 = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %10, %11, %9 : tensor<i32>, tensor<i32>, tensor<10xf32>
  }
  return %0#2 : tensor<10xf32>
}
// CHECK-LABEL: func.func @decided_comparison
// CHECK:         {{%\w+}}:2 = stablehlo.while([[I:%\w+]] = {{%\w+}}, [[A:%\w+]] = %arg0)
// CHECK:         do {
// CHECK:           [[S:%\w+]] = stablehlo.dynamic_slice [[A]], [[I]]
// 0 and 1 are what it may be compared with 1.
// CHECK:           stablehlo.compare LT, [[I]]
// CHECK-NOT:       stablehlo.compare

// Constants of complex numbers are compared by their elements.
func.func @equal_complex_carries(%x: tensor<2xcomplex<f64>>, %n: tensor<i32>) -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %c0, %a = %x, %b = %x) : tensor<i32>, tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %s = stablehlo.constant dense<[(0.5, 1.0), (2.0, 0.0)]> : tensor<2xcomplex<f64>>
    %t = stablehlo.constant dense<[(0.5, 1.0), (2.0, 0.0)]> : tensor<2xcomplex<f64>>
    %0 = stablehlo.multiply %a, %s : tensor<2xcomplex<f64>>
    %1 = stablehlo.multiply %b, %t : tensor<2xcomplex<f64>>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %0, %1 : tensor<i32>, tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  }
  return %r#1, %r#2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
}
// CHECK:      func.func @equal_complex_carries
// CHECK:        [[R:%\w+]]:2 = stablehlo.while({{%\w+}} = {{%\w+}}, {{%\w+}} = {{%\w+}})
// CHECK:        return [[R]]#1, [[R]]#1

// A number that is added to a counter may be any: the sum of the largest with it wraps around.
func.func @undecided_comparison(%x: tensor<10xf32>, %n: tensor<i64>) -> tensor<10xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %nine = stablehlo.constant dense<9> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i64>, tensor<10xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %nine : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %n : tensor<i64>
    %2 = stablehlo.compare LT, %1, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %3 = stablehlo.select %2, %zero, %1 : tensor<i1>, tensor<i64>
    %4 = stablehlo.dynamic_slice %a, %3, sizes = [1] : (tensor<10xf32>, tensor<i64>) -> tensor<1xf32>
    %5 = stablehlo.dynamic_update_slice %a, %4, %i : (tensor<10xf32>, tensor<1xf32>, tensor<i64>) -> tensor<10xf32>
    %6 = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %6, %5 : tensor<i64>, tensor<10xf32>
  }
  return %0#1 : tensor<10xf32>
}
// CHECK-LABEL: func.func @undecided_comparison
// CHECK:         [[SUM:%\w+]] = stablehlo.add
// CHECK-NEXT:    [[IS_BELOW:%\w+]] = stablehlo.compare LT, [[SUM]]
// CHECK-NEXT:    stablehlo.select [[IS_BELOW]]

// A number of ui64 may be above the bounds that are known of it.
func.func @undecided_comparison.unsigned(%x: tensor<ui64>) -> tensor<i1> {
  %c = stablehlo.constant dense<9223372036854775807> : tensor<ui64>
  %0 = stablehlo.compare GT, %x, %c : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func @undecided_comparison.unsigned
// CHECK:         stablehlo.compare GT

// So does a product.
func.func @undecided_comparison.product(%n: tensor<i64>) -> tensor<i1> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %five = stablehlo.constant dense<5> : tensor<i64>
  %0 = stablehlo.minimum %n, %five : tensor<i64>
  %1 = stablehlo.multiply %0, %two : tensor<i64>
  %2 = stablehlo.compare LT, %1, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  return %2 : tensor<i1>
}
// CHECK-LABEL: func.func @undecided_comparison.product
// CHECK:         stablehlo.compare LT
