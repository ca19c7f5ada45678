"""A trained model and everything that runs one step of it, in one HTML file that needs no server and no network.

``contents.py`` turns a network into data: programs, tensors, tokenizers. ``page.py`` writes them into a page. There,
``parts.js`` computes what ``kernels/`` computes here, ``network.js`` nn/ and models/, ``tokens.js`` text/ and
``search.js`` search/; ``page.js`` shows it.
"""

from anaphora.inspection.microscope.page import page_of, tensors_of, write_microscope

__all__ = ["page_of", "tensors_of", "write_microscope"]
