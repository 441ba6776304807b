// RUN: --pipeline "strip-argument-checks"

// A function that runs in the thread that calls it: nothing is checked, and nothing is waited for.
util.func public @in_thread(%x: !hal.buffer_view, %device: !hal.device, %commands: !hal.command_buffer) -> !hal.buffer
    attributes {iree.reflection = {irax.driver = "sync", irax.direct = "1"}} {
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %any = arith.constant -1 : i64
  %pool = arith.constant 0 : i64
  %forever = arith.constant -1 : i32
  %memory = hal.memory_type<"DeviceVisible|DeviceLocal"> : i32
  %usage = hal.buffer_usage<"Transfer|DispatchStorage"> : i32
  %element = hal.element_type<f32> : i32
  %encoding = hal.encoding_type<dense_row_major> : i32
  %c3 = arith.constant 3 : index
  hal.buffer_view.assert<%x : !hal.buffer_view> message("input0") shape([%c3]) type(%element) encoding(%encoding)
  %buffer = hal.buffer_view.buffer<%x : !hal.buffer_view> : !hal.buffer
  %allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
  hal.buffer.assert<%buffer : !hal.buffer> message("tensor") allocator(%allocator : !hal.allocator) minimum_length(%c12) type(DeviceVisible) usage("Transfer|DispatchStorage")
  %none = util.null : !hal.fence
  %made = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  %result = hal.device.queue.alloca<%device : !hal.device> affinity(%any) wait(%none) signal(%made) pool(%pool) type(%memory) usage(%usage) flags("None") : !hal.buffer{%c12}
  %both = hal.fence.join at([%none, %made]) flags("None") -> !hal.fence
  %done = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  hal.device.queue.execute.indirect<%device : !hal.device> affinity(%any) wait(%both) signal(%done) commands(%commands) bindings([
    (%buffer : !hal.buffer)[%c0, %c12],
    (%result : !hal.buffer)[%c0, %c12]
  ]) flags("None")
  hal.fence.signal<%made : !hal.fence>
  hal.device.queue.barrier<%device : !hal.device> affinity(%any) wait(%made) signal(%done) flags("None")
  %status = hal.fence.await until([%done]) timeout_millis(%forever) flags("None") : i32
  util.status.check_ok %status, "failed to wait on timepoint"
  util.return %result : !hal.buffer
}
// CHECK-LABEL: util.func public @in_thread
// CHECK-NOT:     assert
// CHECK-NOT:     hal.fence.
// CHECK:         hal.device.queue.alloca
// CHECK-NOT:     hal.fence.create
// CHECK:         [[WAIT:%\w+]] = util.null : !hal.fence
// CHECK:         [[SIGNAL:%\w+]] = util.null : !hal.fence
// CHECK:         hal.device.queue.execute.indirect{{.*}} wait([[WAIT]]) signal([[SIGNAL]])
// CHECK-NOT:     hal.fence.
// CHECK-NOT:     barrier
// CHECK-NOT:     check_ok
// CHECK:         util.return
