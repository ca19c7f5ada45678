"""Packed GEMM, the pointwise steps of the commonest parts, the time loop around both, and searches, in C.

A pointwise step is one pass over a row where torch makes one for each operation; a product keeps every thread
busy, even where it has few rows.

The ``*.c`` files beside this one follow the numbering of the parts that call them; each has its ``*.py`` with the
arrays it takes. They are built where there is a C compiler, for wheels or when the package is installed. Without them,
in double precision, and on other devices, a part makes the same steps of torch operations.
"""
