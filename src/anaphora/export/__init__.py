"""Networks as graphs that other programs run: ONNX, with a driver that needs neither torch nor this package."""
