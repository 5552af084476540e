"""Make untrusted text unable to act: control strings of every supported family are broken, visibly.

Answers to judge and retrieved pages pass through here before they enter a prompt, on every path. A
middle dot after the opening character breaks a control string (`<·|im_end|>`), so that no tokenizer
makes a control token of it and no quotation of it parses as a call or a verdict. Matching runs over
a shadow of the text: look-alikes folded, invisible characters left out.
"""

from __future__ import annotations

import re
import unicodedata

BREAK = "\u00b7"

_TAGS = (
    # this project's protocol, and the tool and thinking tags of the families
    r"answer|verdict|tool_calls?|tool_responses?|tool_results?|tool_outputs?|tools?|functions?"
    r"|function_calls?|function_results?|parameter|think|thinking|reasoning|reflection"
    # sentence, turn and image marks of Llama, Gemma, Mistral, T5 and byte-level vocabularies
    r"|s|bos|eos|pad|unk|mask|sep|cls|start_of_turn|end_of_turn|start_of_image|end_of_image"
    r"|image_soft_token|start_function_\w+|end_function_\w+|fim_\w+|unused_?\d+|0x[0-9a-f]{2}"
    r"|reserved_\w+|extra_id_\d+|escape|system|user|assistant"
)
_CONTROL = re.compile(
    rf"<\||<<\s*/?\s*sys|<\s*/?\s*(?:{_TAGS})\s*/?\s*(?:[>=]|$)"
    r"|<\s*/?\s*(?:answer|verdict|tool_\w+|think)(?![\w-])"
    r"|\[\s*/?\s*(?:inst|tool_calls|tool_results|tool_content|available_tools|system_prompt"
    r"|model_settings|args|call_id|think|prefix|suffix|middle|img|img_break|img_end|control_\d+)\s*\]"
)
# What NFKC leaves apart but a reader (or a normalising tokenizer) may take for the ASCII character.
_LOOKS_LIKE = str.maketrans(
    {
        **dict.fromkeys("‹〈⟨❮❬˂ᐸ≺⧼《«", "<"),
        **dict.fromkeys("›〉⟩❯❭˃ᐳ≻⧽》»", ">"),
        **dict.fromkeys("│∣ǀ┃▏￨❘⏐", "|"),
        **dict.fromkeys("【〔⟦", "["),
        **dict.fromkeys("】〕⟧", "]"),
        **dict.fromkeys("∕⁄⧸╱", "/"),
        **dict.fromkeys("▁‗", "_"),
        # Cyrillic and Greek letters that spell Latin ones
        **dict(zip("аеорсухіѕјӏԁɡһтпνοαιρτυκ", "aeopcyxisjldghtnvoaiptuk", strict=True)),
    }
)


def inert(text: str) -> str:
    """The text with control strings broken and unprintable control characters replaced."""
    text = "".join("\ufffd" if _unprintable(char) else char for char in text)
    shadow, places = _shadow(text)
    cuts = {places[match.start()] + 1 for match in _overlapping(shadow)}
    if not cuts:
        return text
    borders = [0, *sorted(cuts), len(text)]
    return BREAK.join(text[a:b] for a, b in zip(borders, borders[1:], strict=False))


def _unprintable(char: str) -> bool:
    """C0 and C1 controls other than line ends and tabs, and lone surrogates (no UTF-8 form)."""
    return unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t\r"


def _shadow(text: str) -> tuple[str, list[int]]:
    """Folded lower-case text, and for each of its characters the place it came from."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    folded: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if unicodedata.category(char) in ("Cf", "Mn", "Me"):  # invisible, or a mark on the last one
            continue
        for part in unicodedata.normalize("NFKD", char).translate(_LOOKS_LIKE).lower():
            if unicodedata.category(part) in ("Mn", "Me"):
                continue
            folded.append(part.translate(_LOOKS_LIKE))
            places.append(place)
    return "".join(folded), places


def _overlapping(shadow: str) -> list[re.Match[str]]:
    """Every control string, also one that begins inside another (`<tool_call<|im_end|>`)."""
    found = []
    match = _CONTROL.search(shadow)
    while match:
        found.append(match)
        match = _CONTROL.search(shadow, match.start() + 1)
    return found
