#!/usr/bin/env python3
"""Write the golden files of WordPiece: what the `tokenizers` library makes of the same texts.

    python3 tools/make_golden_text.py tests/golden              hostile texts, a small vocabulary
    python3 tools/make_golden_text.py tests/golden DATA         and 5,000 reviews of DATA/aclImdb

Needs tokenizers (made with 0.23.3); DATA is as CULL_DATA, with bert/vocab.txt in it.

wordpiece_vocab.txt    a vocabulary of our own, one piece a line
wordpiece_cases.txt    a text as JSON, or how often one stands behind itself as [TEXT, TIMES], a tab, its
                       numbers by that vocabulary apart by blanks
wordpiece_imdb.txt     a review's path below aclImdb, how many numbers it has, and FNV-1a (64 bits) over them
                       as little-endian int32, by bert-base-uncased's vocabulary
"""
import glob
import json
import os
import struct
import sys
import tempfile

from tokenizers import BertWordPieceTokenizer

PIECES = """[PAD] [UNK] [CLS] [SEP] [MASK] ! " # $ % & ' ( ) * + , - . / : ; < = > ? @ [ \\ ] ^ _ ` { | } ~ a b c d
e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 ##a ##b ##c ##d ##e ##f ##g ##h ##i ##j ##k ##l ##m ##n ##o
##p ##q ##r ##s ##t ##u ##v ##w ##x ##y ##z ##0 ##1 ##2 ##3 ##4 ##5 ##6 ##7 ##8 ##9 the film was ##ing good ##ly un ##able
##aff 中 文 日 本 ß ##ß σ ##σ α ##α ς ##ς … — “ ” é 한 ᄒ ##ᅡ ##ᆫ ไ ##ท ##ย ا ##ل 👍 ⑴ ( ##(""".split()

TEXTS = ["", " ", "\t\n\r", "The film was GOOD.", "unaffable unaffably", "[SEP]", "a [SEP]b[MASK][PAD] [CLS", "[sep] [Sep]",
         "[[SEP]]", "[UNK][UNK]", "##ing", "x" * 100, "x" * 101, "x" * 100000, "x " * 300, "\u0301" * 500 + "a", "e\u0301\u0323o",
         "É é e\u0301 ê", "\uac00\uac01\ud7a3 한", "ＡＢＣ", "İstanbul ISTANBUL", "ß ẞ ſ", "ﬁlm", "\u200b\u200d\ufeffzero\u2060", "👍🏽 👨\u200d👩",
         "\x00a\x01b\x7fc", "a\u00adb", "中文字a中", "日本語テスト", "ไทย", "हिन्दी", "\u302e\u302fa\u302f\u302e", "don't—“quoted”…",
         "1,000.50$", "\u2028x\u2029y\u0085z", "\x0bv\x0cf", "\ufffdq", "𝒳𝒴", "①②⑴", "ǅ", "Σας ΣΑΣ", "\U0001d165\U0001d16ea", "é" * 100,
         "á" * 101, "\u00a0a\u3000b\u2009c", "a\ue000b", "الف", "\u0378\u0530", "a.b,c;d", "(((", "$$$ @@ ^^", "a\u0301\u0302\u0303b",
         ["x", 1 << 20], ["good", 1 << 18], ["é", 1 << 19], ["e\u0301", 1 << 19], ["\u0301", 1 << 19], ["👍", 1 << 18],
         ["\u200b", 1 << 19], ["##", 12], ["[SEP", 1 << 10], ["\u1100\u1161", 1 << 18]]


def fnv(numbers):
    value = 0xcbf29ce484222325
    for byte in struct.pack(f"<{len(numbers)}i", *numbers):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def main():
    folder = sys.argv[1]
    pieces = list(dict.fromkeys(PIECES))
    with open(os.path.join(folder, "wordpiece_vocab.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(pieces) + "\n")
    small = BertWordPieceTokenizer(os.path.join(folder, "wordpiece_vocab.txt"), lowercase=True)
    with open(os.path.join(folder, "wordpiece_cases.txt"), "w", encoding="utf-8") as file:
        for text in TEXTS:
            whole = text if isinstance(text, str) else text[0] * text[1]
            file.write(json.dumps(text) + "\t" + " ".join(map(str, small.encode(whole).ids)) + "\n")
    if len(sys.argv) < 3:
        return
    large = BertWordPieceTokenizer(os.path.join(sys.argv[2], "bert", "vocab.txt"), lowercase=True)
    root = os.path.join(sys.argv[2], "aclImdb")
    reviews = sorted(glob.glob(os.path.join(root, "*", "*", "*.txt")))[::10]
    with open(os.path.join(folder, "wordpiece_imdb.txt"), "w", encoding="utf-8") as file:
        for path in reviews[:5000]:
            with open(path, encoding="utf-8", newline="") as review:
                numbers = large.encode(review.read()).ids
            file.write(f"{os.path.relpath(path, root)} {len(numbers)} {fnv(numbers):016x}\n")


if __name__ == "__main__":
    main()
