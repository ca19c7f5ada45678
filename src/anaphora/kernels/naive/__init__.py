"""The second reading of recurrent units: the equations of the papers, differentiated by autograd.

Slow and plain. It shares no mathematics with the fast reading, only its options and the names of its weights, so that
the two can be compared. ``tests/kernels/naive`` reads all else of ``kernels/`` in the same way.
"""
