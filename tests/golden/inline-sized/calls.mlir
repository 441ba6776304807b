// Calls are replaced by what the functions do, calls in those too.

// RUN: --pipeline "inline-sized"

func.func @main(%x: tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">> {
  %0 = func.call @f(%x) : (tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">>
  return %0 : tensor<?xf32, #irax.sizes<"n">>
}
func.func private @f(%x: tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">> {
  %0 = func.call @g(%x) : (tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">>
  return %0 : tensor<?xf32, #irax.sizes<"n">>
}
func.func private @g(%x: tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">> {
  %0 = stablehlo.sine %x : tensor<?xf32, #irax.sizes<"n">>
  return %0 : tensor<?xf32, #irax.sizes<"n">>
}

// CHECK:      func.func @main([[X:%\w+]]
// CHECK-NEXT:   [[Y:%\w+]] = stablehlo.sine [[X]]
// CHECK-NEXT:   return [[Y]]
