// The address of the meter is asked for when the program is loaded, and not in calls.
// RUN: --pipeline "interrupt-checks"

func.func public @main(%x: i64) -> i64 {
  // CHECK:     [[LOADED:%\w+]] = util.global.load @irax_meter : i64
  // CHECK:     [[ONE:%\w+]] = util.optimization_barrier [[LOADED]] : i64
  %0 = func.call @irax_host.meter() : () -> i64
  // CHECK:     [[TWO:%\w+]] = call @inner()
  %1 = func.call @inner() : () -> i64
  // CHECK:     arith.addi [[ONE]], [[TWO]]
  %2 = arith.addi %0, %1 : i64
  return %2 : i64
}
// CHECK: func.func private @inner()
func.func private @inner() -> i64 {
  // CHECK: [[GLOBAL:%\w+]] = util.global.load @irax_meter : i64
  // CHECK: [[INNER:%\w+]] = util.optimization_barrier [[GLOBAL]] : i64
  // CHECK: return [[INNER]]
  %0 = func.call @irax_host.meter() : () -> i64
  return %0 : i64
}
// It is loaded first: IREE runs what is before and what is after a barrier apart.
// CHECK: func.func public @later(
func.func public @later(%x: i64) -> i64 {
  // CHECK:     [[FIRST:%\w+]] = util.global.load @irax_meter : i64
  // CHECK:     [[METER:%\w+]] = util.optimization_barrier [[FIRST]] : i64
  // CHECK:     [[TWICE:%\w+]] = arith.addi
  %0 = arith.addi %x, %x : i64
  %1 = func.call @irax_host.meter() : () -> i64
  // CHECK:     arith.addi [[TWICE]], [[METER]]
  %2 = arith.addi %0, %1 : i64
  return %2 : i64
}
func.func private @irax_host.meter() -> i64
// CHECK: util.global private @irax_meter : i64
// CHECK: util.initializer {
// CHECK:   [[METER:%\w+]] = func.call @irax_host.meter() : () -> i64
// CHECK:   util.global.store [[METER]], @irax_meter : i64
