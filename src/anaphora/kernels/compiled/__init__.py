"""Packed GEMM, the pointwise steps of the commonest parts, the time loop around both, and searches, in C.

A pointwise step is one pass over a row where torch makes one for each operation; a product keeps every thread
busy, even where it has few rows.

The ``*.c`` files beside this one follow the numbering of the parts that call them; each has its ``*.py`` with the
arrays it takes. They are built when the package is installed on a machine with a C compiler, and nothing is missing
without one: then, in double precision, and on other devices, a part makes the same steps of torch operations.
"""
