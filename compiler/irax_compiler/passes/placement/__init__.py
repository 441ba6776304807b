"""Places in memory for the arrays between the kernels of a program."""

from irax_compiler.passes.placement.place import Place as Place
