"""Jbpe: a tokenizer by pairs of bytes, trained, and a text there and back."""

import numpy as np
from jbpe import BPETokenizer


def run():
    text = "the cat sat on the mat; the hat that the cat had sat flat. " * 8
    tok = BPETokenizer(base_vocab=256)
    tok.train(text, num_merges=20, verbose=False)
    ids = tok.encode("the cat had the flat hat")
    back = tok.decode(ids)
    return {"ids": np.asarray(ids), "back": np.frombuffer(back.encode(), np.uint8)}
