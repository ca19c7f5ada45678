"""The room for other formats (ONNX); empty as yet."""
