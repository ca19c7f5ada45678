"""Serve a Transformer by CTranslate2 with LibreTranslate's ``/languages`` and ``/translate``, as a peer of our server.

Its weights are random, and it has as many parameters as our model (4.7 million: 256 wide, 2 layers a side, 8,000
tokens, one table for both sides and the output), so its outputs have a forced length. Each request is a call of its own
from a thread of its own, as in LibreTranslate. Runs in an environment with ``ctranslate2`` (README.md beside this
file); the address goes to standard error.
"""

import argparse
import json
import sys
import tempfile
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec

_WIDTH, _INNER, _HEADS, _LAYERS, _TOKENS = 256, 512, 4, 2, 8000
_SPECIAL = ["<blank>", "<unk>", "<s>", "</s>"]
_VOCABULARY = [*_SPECIAL, *(f"t{number}" for number in range(len(_SPECIAL), _TOKENS))]


def new_model(seed: int = 1) -> TransformerSpec:
    """Random weights."""
    random, spec = np.random.default_rng(seed), TransformerSpec.from_config(_LAYERS, _HEADS)

    def linear(part, rows: int, columns: int) -> None:
        part.weight = random.normal(0, columns**-0.5, (rows, columns)).astype("float32")
        part.bias = np.zeros(rows, "float32")

    def norm(part) -> None:
        part.gamma, part.beta = np.ones(_WIDTH, "float32"), np.zeros(_WIDTH, "float32")

    def attention(part, *rows: int) -> None:
        norm(part.layer_norm)
        for one, count in zip(part.linear, rows, strict=True):
            linear(one, count * _WIDTH, _WIDTH)

    table = random.normal(0, _WIDTH**-0.5, (_TOKENS, _WIDTH)).astype("float32")
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = spec.decoder.projection.weight = table
    spec.decoder.projection.bias = np.zeros(_TOKENS, "float32")
    for side in (spec.encoder, spec.decoder):
        norm(side.layer_norm)
        for layer in side.layer:
            attention(layer.self_attention, 3, 1)
            if side is spec.decoder:
                attention(layer.attention, 1, 2, 1)
            norm(layer.ffn.layer_norm)
            linear(layer.ffn.linear_0, _INNER, _WIDTH)
            linear(layer.ffn.linear_1, _WIDTH, _INNER)
    for side in ("source", "target"):
        getattr(spec, f"register_{side}_vocabulary")(_VOCABULARY)
    spec.validate()
    return spec


class Answers(BaseHTTPRequestHandler):
    """Requests of ``benchmarks.serving``."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer is two packets, and the second would wait for the first

    def do_GET(self) -> None:
        self._answer([{"code": "en", "name": "English", "targets": ["de"]}])

    def do_POST(self) -> None:
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
        first = len(_SPECIAL)
        tokens = [_VOCABULARY[first + zlib.crc32(word.encode()) % (_TOKENS - first)] for word in text.split()]
        self._answer({"translatedText": " ".join(self.server.translate([*tokens, "</s>"]))})

    def _answer(self, found: object) -> None:
        content = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """One translator, a thread a connection."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, translator: ctranslate2.Translator, length: int, beam: int) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self._translator = translator
        self._how = {"beam_size": beam, "min_decoding_length": length, "max_decoding_length": length}

    def translate(self, tokens: list[str]) -> list[str]:
        """The tokens of a translation."""
        return self._translator.translate_batch([tokens], **self._how)[0].hypotheses[0]


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=14, help="tokens of each translation")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=2, help="requests that are computed at once")
    parser.add_argument("--threads", type=int, default=1, help="threads of each")
    parser.add_argument("--compute-type", default="float32", help="float32 or int8")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        new_model().save(folder)
        translator = ctranslate2.Translator(
            folder, inter_threads=given.at_once, intra_threads=given.threads, compute_type=given.compute_type
        )
    server = Server(translator, given.length, given.beam)
    print(f"CTranslate2 {ctranslate2.__version__} at http://127.0.0.1:{server.server_port}/", file=sys.stderr)
    server.serve_forever()


if __name__ == "__main__":
    main()
