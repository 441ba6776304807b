// RUN: --pipeline "sink-outer-products"

// A loop that adds up outer products stacks their factors; one product of matrices follows.
func.func @main(%xs: tensor<9x3xf32>, %c: tensor<3xf32>, %g: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %y = %c, %sum = %g) : tensor<i32>, tensor<3xf32>, tensor<3x3xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %two : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 3] : (tensor<9x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %x = stablehlo.reshape %row : (tensor<1x3xf32>) -> tensor<3xf32>
    %z = stablehlo.multiply %y, %x : tensor<3xf32>
    %outer = stablehlo.dot_general %z, %x, contracting_dims = [] x [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
    %total = stablehlo.add %sum, %outer : tensor<3x3xf32>
    stablehlo.return %j, %z, %total : tensor<i32>, tensor<3xf32>, tensor<3x3xf32>
  }
  return %0#2 : tensor<3x3xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[XS:%\w+]]: tensor<9x3xf32>, [[C:%\w+]]: tensor<3xf32>, [[G:%\w+]]: tensor<3x3xf32>
// CHECK:       [[LOOP:%\w+]]:4 = stablehlo.while({{.*}}) : tensor<i32>, tensor<3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
// CHECK:         [[Z:%\w+]] = stablehlo.multiply
// CHECK-NOT:     dot_general
// CHECK:         stablehlo.divide
// CHECK:         [[A:%\w+]] = stablehlo.reshape [[Z]]
// CHECK:         stablehlo.dynamic_update_slice {{%\w+}}, [[A]],
// CHECK:         stablehlo.dynamic_update_slice
// CHECK:         stablehlo.return
// CHECK:       [[P:%\w+]] = stablehlo.dot_general [[LOOP]]#2, [[LOOP]]#3, contracting_dims = [0] x [0]
// CHECK:       [[R:%\w+]] = stablehlo.add [[G]], [[P]]
// CHECK:       return [[R]]

// One that is read in the loop stays.
func.func @read(%x: tensor<3xf32>, %g: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %g) : tensor<i32>, tensor<3x3xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.dot_general %sum, %x, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %outer = stablehlo.dot_general %z, %x, contracting_dims = [] x [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
    %total = stablehlo.add %sum, %outer : tensor<3x3xf32>
    stablehlo.return %j, %total : tensor<i32>, tensor<3x3xf32>
  }
  return %0#1 : tensor<3x3xf32>
}
// CHECK-LABEL: func.func @read
// CHECK:       stablehlo.while({{.*}}) : tensor<i32>, tensor<3x3xf32>
// CHECK:         stablehlo.add {{.*}} : tensor<3x3xf32>

// The rows of an array that is there already, from the last on, are no stack; those of the other
// factor are in its order.
func.func @rows(%xs: tensor<9x3xf32>, %c: tensor<3xf32>, %g: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %last = stablehlo.constant dense<8> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %y = %c, %sum = %g) : tensor<i32>, tensor<3xf32>, tensor<3x3xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %k = stablehlo.subtract %last, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %k, %zero, sizes = [1, 3] : (tensor<9x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %x = stablehlo.reshape %row : (tensor<1x3xf32>) -> tensor<3xf32>
    %z = stablehlo.multiply %y, %x : tensor<3xf32>
    %outer = stablehlo.dot_general %z, %x, contracting_dims = [] x [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
    %total = stablehlo.add %sum, %outer : tensor<3x3xf32>
    stablehlo.return %j, %z, %total : tensor<i32>, tensor<3xf32>, tensor<3x3xf32>
  }
  return %0#2 : tensor<3x3xf32>
}
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    [[XS:%\w+]]: tensor<9x3xf32>
// CHECK:       [[LOOP:%\w+]]:3 = stablehlo.while({{.*}}) : tensor<i32>, tensor<3xf32>, tensor<9x3xf32>
// CHECK:         [[K:%\w+]] = stablehlo.subtract
// CHECK:         stablehlo.dynamic_update_slice {{%\w+}}, {{%\w+}}, [[K]]
// CHECK:       stablehlo.dot_general [[LOOP]]#2, [[XS]], contracting_dims = [0] x [0]

// So do a loop and one inside of it.
func.func @nested(%xs: tensor<4x3xf32>, %g: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %outer = %g, %inner = %g) : tensor<i32>, tensor<3x3xf32>, tensor<3x3xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %zero, %sum = %inner) : tensor<i32>, tensor<3x3xf32>
     cond {
      %p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %row = stablehlo.dynamic_slice %xs, %j, %zero, sizes = [1, 3] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %x = stablehlo.reshape %row : (tensor<1x3xf32>) -> tensor<3xf32>
      %y = stablehlo.sine %x : tensor<3xf32>
      %product = stablehlo.dot_general %y, %y, contracting_dims = [] x [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
      %total = stablehlo.add %sum, %product : tensor<3x3xf32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %total : tensor<i32>, tensor<3x3xf32>
    }
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 3] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %x = stablehlo.reshape %row : (tensor<1x3xf32>) -> tensor<3xf32>
    %y = stablehlo.cosine %x : tensor<3xf32>
    %product = stablehlo.dot_general %y, %y, contracting_dims = [] x [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
    %total = stablehlo.add %outer, %product : tensor<3x3xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %total, %1#1 : tensor<i32>, tensor<3x3xf32>, tensor<3x3xf32>
  }
  return %0#1, %0#2 : tensor<3x3xf32>, tensor<3x3xf32>
}
// CHECK-LABEL: func.func @nested(
// CHECK:       [[OUTER:%\w+]]:3 = stablehlo.while({{.*}}) : tensor<i32>, tensor<3x3xf32>, tensor<4x3xf32>
// CHECK:         [[INNER:%\w+]]:2 = stablehlo.while({{.*}}) : tensor<i32>, tensor<4x3xf32>
// CHECK:           stablehlo.sine
// CHECK:           stablehlo.return
// CHECK:         stablehlo.dot_general [[INNER]]#1, [[INNER]]#1, contracting_dims = [0] x [0]
// CHECK:         stablehlo.cosine
// CHECK-NOT:     dot_general
// CHECK:         stablehlo.return
// CHECK:       stablehlo.dot_general [[OUTER]]#2, [[OUTER]]#2, contracting_dims = [0] x [0]

// A product of bfloat16 is added to a sum of float32: the product of the stacks is of float32.
func.func @converted(%xs: tensor<9x3xbf16>, %g: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %g) : tensor<i32>, tensor<3x3xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 3] : (tensor<9x3xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x3xbf16>
    %x = stablehlo.reshape %row : (tensor<1x3xbf16>) -> tensor<3xbf16>
    %y = stablehlo.sine %x : tensor<3xbf16>
    %outer = stablehlo.dot_general %y, %x, contracting_dims = [] x [] : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3x3xbf16>
    %wide = stablehlo.convert %outer : (tensor<3x3xbf16>) -> tensor<3x3xf32>
    %total = stablehlo.add %sum, %wide : tensor<3x3xf32>
    stablehlo.return %j, %total : tensor<i32>, tensor<3x3xf32>
  }
  return %0#1 : tensor<3x3xf32>
}
// CHECK-LABEL: func.func @converted(
// CHECK:         stablehlo.while({{.*}}) : tensor<i32>, tensor<9x3xbf16>
// CHECK-NOT:     dot_general
// CHECK:       stablehlo.dot_general {{.*}} : (tensor<9x3xbf16>, tensor<9x3xbf16>) -> tensor<3x3xf32>
