"""The chips that IREE 3.13 compiles for, as tried: names of families, of chips and of products."""

import platform

CPU = (
    ("host", "generic", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
    if platform.machine() in ("x86_64", "AMD64")
    else ("host", "generic")
)
"""Just the processors of this host's kind: for others the linker is not here."""

VULKAN = (
    *("rdna1", "rdna2", "rdna3", "rdna4", "cdna1", "cdna2", "cdna3", "cdna4"),
    *("pascal", "volta", "turing", "ampere", "ada"),
    *("valhall", "valhall1", "valhall2", "valhall3", "valhall4", "adreno"),
    "vp_android_baseline_2022",
    *("gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx942"),
    *("sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_120"),
    *("a100", "rtx3070", "rtx3080", "rtx3090", "rtx4060", "rtx4070", "rtx4080", "rtx4090"),
    *("rx7800xt", "rx7900xtx", "rx9070xt"),
    *("mali-g57", "mali-g78", "mali-g310", "mali-g510", "mali-g615", "mali-g710", "mali-g715"),
    *("adreno-730", "adreno-740", "adreno-750"),
)

CUDA = (
    *("sm_80", "sm_86", "sm_87", "sm_89"),
    *("sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_120", "sm_121"),
    *("pascal", "volta", "turing", "ampere", "ada"),
    *("a100", "rtx3070", "rtx3070ti", "rtx3080", "rtx3080ti", "rtx3090", "rtx3090ti"),
    *("rtx4060", "rtx4070", "rtx4080", "rtx4090"),
)
CUDA_NEWER = (
    *("sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_103", "sm_110"),
    *("hopper", "h100", "h200", "blackwell", "b100", "b200"),
)

HIP = (
    *("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1250"),
    *("gfx1100", "gfx1101", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"),
    *("cdna1", "cdna2", "cdna5"),
    *("mi100", "mi210", "mi250", "mi250x", "mi300a", "mi300x", "mi308x", "mi325x"),
    *("mi350x", "mi355x", "mi455x"),
    *("rx7700xt", "rx7800xt", "rx7900xt", "rx7900xtx", "rx9060xt", "rx9070", "rx9070xt"),
    *("w7700", "w7800", "w7900", "v710", "r9700"),
)
