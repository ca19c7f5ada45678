"""Networks as graphs that other programs run: ONNX."""
