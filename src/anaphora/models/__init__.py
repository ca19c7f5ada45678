"""Whole networks, each meeting ``protocols.Model``; they know sizes and marks, never words or files."""
