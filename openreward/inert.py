"""Make untrusted text unable to act: control strings of every supported family are broken, visibly.

Answers to judge and retrieved pages pass through here before they enter a prompt, on every path. A
middle dot after the opening character breaks a control string (`<·|im_end|>`), so that no tokenizer
makes a control token of it and no quotation of it parses as a call or a verdict. Matching runs over
a shadow of the text: look-alikes folded, invisible characters left out. Takes linear time: every
repetition below is possessive or bounded.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

BREAK = "\u00b7"

# The tags of the protocol (parse.py) and of thinking; they count with attributes or unterminated.
_PROTOCOL = r"answer|verdict|tool_\w++|think|thinking|function_calls?|function_results?"
# Tokens of Llama, Mistral, Gemma, Command-R, GLM, T5 and of byte-level vocabularies.
_TOKENS = (
    r"(?:bos|eos|pad|unk|mask|sep|cls|eop)(?:_token)?|sop|start_of_turn|end_of_turn"
    r"|start_of_image|end_of_image|image_soft_token|start_function_\w++|end_function_\w++|escape"
    r"|fim_\w++|unused_?\d++|0x[0-9a-f]{2}|reserved_\w++|extra_id_\d++|special_\d++"
    r"|arg_key|arg_value|tts_\w++|2mass"
)
_BRACKETED = (
    r"inst|tool_\w++|available_tools|system_prompt|model_settings|args|call_id|think|prefix|suffix"
    r"|middle|img|img_break|img_end|audio|begin_audio|transcribe|control_\d++|[gs]?mask|multimodal|@bos@"
)
_CONTROL = re.compile(
    r"</?+\|(?=[^\s>])|<\s*+\|[^|<>\n]{1,40}+\|\s*+>|</?+\w{1,40}+\|>"  # <|im_end|>, <turn|>
    r"|<<\s*+/?+\s*+sys\s*+>>|</?+s/?+>"
    rf"|<\s*+/?+\s*+(?:(?:{_PROTOCOL})(?![\w-])|(?:{_TOKENS})\s*+/?+\s*+(?:>|\Z))"
    r"|<\s*+(?:function|parameter)\s*+=|<\s*+/\s*+(?:function|parameter)\s*+>"
    r"|(?<!\w)<\s*+tools\s*+>|<\s*+/\s*+tools\s*+>"  # not generics: List<Tools>
    rf"|\[\s*+/?+\s*+(?:{_BRACKETED})\s*+(?:\]|\Z)"
    r"""|["'](?:arguments|parameters|args)["']\s*+:"""  # the key that makes an object a bare call
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# What NFKD leaves apart but a reader (or a normalising tokenizer) may take for the ASCII character.
_LOOKS_LIKE = str.maketrans(
    {
        **dict.fromkeys("‹〈⟨❮❬˂ᐸ≺⧼《«", "<"),
        **dict.fromkeys("›〉⟩❯❭˃ᐳ≻⧽》»", ">"),
        **dict.fromkeys("│∣ǀ┃▏￨❘⏐", "|"),
        **dict.fromkeys("【〔⟦", "["),
        **dict.fromkeys("】〕⟧", "]"),
        **dict.fromkeys("∕⁄⧸╱", "/"),
        **dict.fromkeys("▁‗", "_"),
        **dict.fromkeys("\u115f\u1160\u2800", ""),  # letters that show nothing
        # Cyrillic, Greek, Armenian and phonetic letters that spell Latin ones
        **dict(zip("аеорсухіѕјӏԁɡһтпνοαιρτυκ", "aeopcyxisjldghtnvoaiptuk", strict=True)),
        **dict(zip("АВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abesijkmhopctyxabezhikmnoptyx", strict=True)),
        **dict(
            zip("кԝωѵսոօհցɑıɩᴀᴄᴅᴇɪᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏ", "kwwvunohgaiiacdeiklmnoprstuvwy", strict=True)
        ),
    }
)


def inert(text: str) -> str:
    """The text with control strings broken and unprintable control characters replaced."""
    text = _UNPRINTABLE.sub("\ufffd", text)
    shadow, places = _shadow(text)
    cuts = {places[start] + 1 for start in _starts(shadow)}
    if not cuts:
        return text
    borders = [0, *sorted(cuts), len(text)]
    return BREAK.join(text[a:b] for a, b in zip(borders, borders[1:], strict=False))


def _shadow(text: str) -> tuple[str, list[int]]:
    """Folded lower-case text, and for each of its characters the place it came from."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    folded: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        parts = _fold(char)
        folded.append(parts)
        places.extend([place] * len(parts))
    return "".join(folded), places


@lru_cache(maxsize=8192)
def _fold(char: str) -> str:
    """What a character is taken for; nothing where it is invisible or a mark on the last one."""
    parts = unicodedata.normalize("NFKD", char.translate(_LOOKS_LIKE))
    parts = parts.translate(_LOOKS_LIKE).lower().translate(_LOOKS_LIKE)
    return "".join(p for p in parts if unicodedata.category(p) not in ("Cf", "Mn", "Me"))


def _starts(shadow: str) -> list[int]:
    """Where control strings begin, also one inside another (`<tool_call<|im_end|>`)."""
    found = []
    match = _CONTROL.search(shadow)
    while match:
        found.append(match.start())
        match = _CONTROL.search(shadow, match.start() + 1)
    return found
