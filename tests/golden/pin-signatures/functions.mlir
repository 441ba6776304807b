// RUN: --pipeline "pin-signatures"

// The last call has one number twice, the first has two.
util.func private @twice(%list: !util.list<?>, %a: index, %b: index) -> index {
  %0 = arith.subi %a, %b : index
  util.return %0 : index
}
// CHECK-LABEL: util.func private @twice(%arg0: !util.list<?>, %arg1: index, %arg2: index) -> (%arg0, index)
// CHECK:         [[D:%\w+]] = arith.subi %arg1, %arg2
// CHECK:         util.return %arg0, [[D]] : !util.list<?>, index

util.func private @nothing(%list: !util.list<?>, %a: index) {
  util.list.set %list[%a], %a : index -> !util.list<?>
  util.return
}
// CHECK-LABEL: util.func private @nothing(%arg0: !util.list<?>, %arg1: index) -> %arg0
// CHECK:         util.return %arg0 : !util.list<?>

// What takes no list is no part.
util.func private @plain(%a: index) -> index {
  util.return %a : index
}
// CHECK-LABEL: util.func private @plain(%arg0: index) -> index

util.func private @host(!util.list<?>)
// CHECK-LABEL: util.func private @host(%arg0: !util.list<?>)

util.func public @main(%list: !util.list<?>, %a: index, %b: index) -> (index, index) {
  %0 = util.call @twice(%list, %a, %b) : (!util.list<?>, index, index) -> index
  %1 = util.call @twice(%list, %a, %a) : (!util.list<?>, index, index) -> index
  util.call @nothing(%list, %0) : (!util.list<?>, index) -> ()
  util.call @nothing(%list, %1) : (!util.list<?>, index) -> ()
  util.call @host(%list) : (!util.list<?>) -> ()
  %3 = util.call @plain(%1) : (index) -> index
  %4 = util.call @plain(%3) : (index) -> index
  util.return %0, %4 : index, index
}
// CHECK-LABEL: util.func public @main
// CHECK:         [[X:%\w+]]:2 = util.call @twice(%arg0, %arg1, %arg2) : (!util.list<?>, index, index) -> (%arg0, index)
// CHECK:         [[Y:%\w+]]:2 = util.call @twice(%arg0, %arg1, %arg1) : (!util.list<?>, index, index) -> (%arg0, index)
// CHECK:         util.call @nothing(%arg0, [[X]]#1) : (!util.list<?>, index) -> %arg0
// CHECK:         util.call @nothing(%arg0, [[Y]]#1) : (!util.list<?>, index) -> %arg0
// CHECK:         util.call @plain([[Y]]#1) : (index) -> index
