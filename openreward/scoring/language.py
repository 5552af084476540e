"""In which language an answer is scored: that of the question, English or Chinese.

Han letters make a text Chinese, unless kana stand among them (Japanese). Whatever is neither is
scored in English.
"""

from __future__ import annotations

import re

from openreward.scoring.records import Language

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")
_SHARE = 0.3  # of Han letters among Han letters and other words
_READ = 4000  # characters


def language_of(query: str, answer: str) -> Language:
    """The language of the query; of the answer where the query holds no letters."""
    for text in (query[:_READ], answer[:_READ]):
        han, words = len(_HAN.findall(text)), len(_WORD.findall(text))
        if han + words:
            chinese = han / (han + words) >= _SHARE and not _KANA.search(text)
            return "zh" if chinese else "en"
    return "en"
