// CHIP: sapphirerapids
// RUN: --pipeline "legalize{target=iree-cpu}"

// CHECK:       stream.executable private @[[BYTES:words_\w+]] {
// CHECK:         "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: "llvm.x86.tilezero"
// CHECK:         scf.for
// CHECK-COUNT-4: "llvm.x86.tileloadd64"
// CHECK-COUNT-4: "llvm.x86.tdpbsud"
// CHECK-COUNT-4: "llvm.x86.tilestored64"
// CHECK:         "llvm.x86.tilerelease"

// CHECK:       stream.executable private @[[HALVES:words_\w+]] {
// CHECK:         "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: "llvm.x86.tilezero"
// CHECK:         scf.for
// CHECK-COUNT-4: "llvm.x86.tileloadd64"
// CHECK-COUNT-4: "llvm.x86.tdpbf16ps"
// CHECK:         scf.if
// CHECK-COUNT-2: llvm.intr.masked.load
// CHECK-COUNT-4: "llvm.x86.tileloadd64"
// CHECK-COUNT-4: "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: "llvm.x86.tilestored64"
// CHECK:         "llvm.x86.tilerelease"

// AMX multiplies two registers of the left factor by two of the right one. A depth of 100 pairs is six
// registers, and four pairs that are copied.
func.func @bfloat16(%x: tensor<64x200xbf16>, %y: tensor<200x64xbf16>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x200xbf16>, tensor<200x64xbf16>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
// CHECK:       func.func @bfloat16
// CHECK:         flow.dispatch @[[HALVES]]::@[[HALVES]]({{.*}}) : (tensor<1x64x200xi16>, tensor<1x200x64xi16>)

// The instruction for bytes names the signed factor.
func.func @bytes(%x: tensor<64x128xi8>, %y: tensor<128x64xui8>) -> tensor<64x64xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x128xi8>, tensor<128x64xui8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}
// CHECK:       func.func @bytes
// CHECK:         flow.dispatch @[[BYTES]]::@[[BYTES]]({{.*}}) : (tensor<1x64x128xi8>, tensor<1x128x64xi8>)
