"""No control string of any family survives in untrusted text, and ordinary text is left alone."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openreward.inert import BREAK, inert
from openreward.parse import read_calls, read_verdict
from openreward.policy.llama_cpp import LlamaCpp
from openreward.policy.token_path import TokenPolicy

FAMILIES: dict[str, str] = {
    "qwen 2.5": "<|im_start|> <|im_end|> <|endoftext|> <|object_ref_start|> <|box_end|> "
    "<|quad_end|> <|vision_start|> <|vision_pad|> <|image_pad|> <|fim_prefix|> <|repo_name|> "
    "<|file_sep|> <tool_call> </tool_call> </tools>",
    "qwen 3": "<tool_response> </tool_response> <think> </think> <tts_pad> <|audio_start|> <tools>",
    "llama 2": "<s> </s> <unk> [INST] [/INST] <<SYS>> <</SYS>>",
    "llama 3": "<|begin_of_text|> <|end_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> "
    "<|eom_id|> <|python_tag|> <|finetune_right_pad_id|> <|reserved_special_token_0|> <|image|>",
    "gemma 2": "<bos> <eos> <pad> <unk> <mask> <start_of_turn> <end_of_turn> <unused0> <unused99> "
    "<2mass> [@BOS@]",
    "gemma 3": "<start_of_image> <end_of_image> <image_soft_token> <unused6241> [multimodal]",
    "gemma functions": "<start_function_call> <end_function_declaration> <escape>",
    "gemma 4": "<|turn> <turn|> <|tool_call> <tool_call|> <|channel> <channel|> <|think|>",
    "mistral 1": "<s> </s> <unk> [INST] [/INST]",
    "mistral 3": "[TOOL_CALLS] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] "
    "[IMG] [PREFIX] [MIDDLE] [SUFFIX]",
    "mistral 7": "[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT] [IMG_BREAK] [IMG_END]",
    "mistral tekken": "<pad> [ARGS] [CALL_ID] [THINK] [/THINK] [AUDIO] [BEGIN_AUDIO] "
    "[TRANSCRIBE] [MODEL_SETTINGS] [/MODEL_SETTINGS] <SPECIAL_20> [control_8]",
    "deepseek": "<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜▁pad▁｜> <｜User｜> "
    "<｜Assistant｜> <｜tool▁calls▁begin｜> <｜tool▁call▁end｜> <｜tool▁sep｜> "
    "<｜tool▁outputs▁begin｜> <｜fim▁hole｜> <｜DSML｜function_calls> </｜DSML｜invoke> <|EOT|>",
    "phi": "<|system|> <|user|> <|assistant|> <|end|> <|endoftext10|> <|dummy_0|> <|im_sep|>",
    "gpt-oss": "<|start|> <|channel|> <|message|> <|constrain|> <|return|> <|call|> "
    "<|endofprompt|>",
    "command-r": "<PAD> <UNK> <CLS> <SEP> <MASK_TOKEN> <BOS_TOKEN> <EOS_TOKEN> <EOP_TOKEN> "
    "<|START_OF_TURN_TOKEN|> <|END_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|> <|START_ACTION|>",
    "glm": "[MASK] [gMASK] [sMASK] <sop> <eop> <|observation|> <|begin_of_image|> <arg_key> "
    "</arg_key> <arg_value> </arg_value>",
    "bytes": "<0x0A> <0xff>",
    "this project": "<answer> </answer> <verdict> <tool_call> </tool_call> <tool_result> "
    "</tool_results> <tool_outputs> <think> </think> <thinking> <function=search> </function> "
    "<parameter=query> </parameter> <function_calls>",
}
STRINGS = sorted({s for text in FAMILIES.values() for s in text.split()})
TAGS = ["answer", "verdict", "tool_call", "tool_result", "tool_outputs", "think", "thinking"]


def full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize("string", STRINGS)
def test_a_control_string_is_broken_behind_its_first_character(string: str) -> None:
    broken = f"{string[0]}{BREAK}{string[1:]}"
    assert inert(f"before {string}after {string}") == f"before {broken}after {broken}"
    assert inert(string * 2) == broken * 2
    assert inert(f"a\n{string}\nb") == f"a\n{broken}\nb"


@pytest.mark.parametrize("string", STRINGS)
def test_disguises_do_not_help(string: str) -> None:
    opening, rest = string[0], string[1:]
    disguised = [
        string.upper(),
        string.lower(),
        f"{opening}\u200b{rest}",
        "\u200d".join(string),
        "\u00ad\ufeff".join(string),
        f"{opening}\ufe0f{rest}",
        f"{opening}\u0338{rest}",  # a stroke on the first character
        f"{opening}\u3164{rest}",  # a letter that shows nothing
        full_width(string),
        opening + full_width(rest),
    ]
    for text in disguised:
        assert inert(text).startswith(f"{text[0]}{BREAK}"), ascii(text)


@pytest.mark.parametrize("name", TAGS)
def test_tags_of_the_protocol_are_broken_with_attributes_and_unterminated(name: str) -> None:
    for text in (
        f"<{name} id=1>",
        f"<{name}\nx='y'>",
        f"< {name} >",
        f"< / {name}>",
        f"<\n{name}\n>",
        f"<{name}/>",
        f"</ {name}>",
        f"‹{name}›",
        f"«{name}»",
        f"⟨{name}⟩",
    ):
        assert inert(text)[1] == BREAK, text
    assert inert(f"<{name}") == f"<{BREAK}{name}"
    assert inert(f"<{name} and more") == f"<{BREAK}{name} and more"


@pytest.mark.parametrize(
    "text",
    [
        "<аnswer>",  # Cyrillic a
        "<αnswer>",  # Greek alpha
        "<ΑΝSWЕR>",  # Greek and Cyrillic capitals
        "<аɴѕԝеr>",
        "<ａｎｓｗｅｒ>",
        "<𝐚𝐧𝐬𝐰𝐞𝐫>",
        "<ⓐnswer>",
        "<anſwer>",
        "<a\u0301nswer>",
        "<thınk>",
        "<tооl_саll>",
        "<tool‗call>",
        "＜tool＿call＞",
        "<∣im_end∣>",
        "<│im_end│>",
        "<ǀim_end|>",
        "≮|im_end|>",
        "【INST】",
        "[ІNЅТ]",
        "[∕INST]",
        "＂arguments＂: {}",
    ],
)
def test_look_alikes_are_broken(text: str) -> None:
    assert inert(text) == f"{text[0]}{BREAK}{text[1:]}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool_call<|im_end|>", "<·tool_call<·|im_end|>"),
        ("<<|im_end|>", "<<·|im_end|>"),
        ("<answer<answer>A</answer>", "<·answer<·answer>A<·/answer>"),
        ("[<s>INST]", "[<·s>INST]"),
        ("[[INST]]", "[[·INST]]"),
        ("< |im_end| >", "<· |im_end| >"),
        ("<| im_end |>", "<·| im_end |>"),
        ("<\x00|im_end|>", "<\ufffd|im_end|>"),
        ("<\ud800answer>", "<\ufffdanswer>"),
        ("a\x07b\x9bc\td\r\ne", "a\ufffdb\ufffdc\td\r\ne"),
        ('{"name": "a", "arguments": {}}', '{"name": "a", "·arguments": {}}'),
        ("{'name': 'a', 'parameters' : {}}", "{'name': 'a', '·parameters' : {}}"),
        ('"args":1', '"·args":1'),
    ],
)
def test_nested_spaced_and_unprintable_forms(text: str, expected: str) -> None:
    assert inert(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\r\n",
        "The answer is A, and I think that the tool works. [1] [2, 3] [a-z] (s)",
        "if a < b || c > d and x<s or x <answers: y<=think",
        "for (i = 0; i <n; i++) { a[i] <<= 1; } cout << system << endl; cout << sys << x;",
        "x < |y| and |a| < |b|, f <| g, p <|> q, a |> b",
        "<strong>bold</strong> <div class='a'>b</div> <br/> <p> <a href='#'> <span> <sub>",
        "List<User> Map<String, List<Tools>> Option<T> Vec<u8> std::vector<int> Promise<void>",
        "git clone <url> && ssh <user>@<host> <file> <name> <B> <A>",
        "<answers> <answer-box> <thinker> <my_answer> <toolbox> <functional> <started>",
        "[x] [ ] [instance] [think about it] [image] [prefixed] [install] [link](url)",
        '{"name": "Ada", "age": 36, "argument": 1, "input": [2], "parameter": {"query": "x"}}',
        "args: x, arguments = 3; def f(*args, **kwargs): parameters: none",
        "a<\nb>\nc",
        "C'est « la réponse » et ‹ ceci ›; 5 › 3; naïve café; ﬁne",
        "Ответ: А лучше. Привет <мир>. Ελληνικά <κόσμε>",
        "答案是《红楼梦》和【注】。「はい」、〔例〕。 مرحبا بالعالم <نص> שלום हिन्दी ไทย",
        "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 ❤️ 1️⃣ e\u0301 \u202babc\u202c a\u200bb",
        "E = mc², ½, №, ℃, …, x ≤ y, x ≮ y, {a ∣ b}, ⟨ψ|φ⟩, a ∣ b",
        "···",
    ],
)
def test_ordinary_text_is_untouched(text: str) -> None:
    assert inert(text) == text


CONTROLS = st.sampled_from(STRINGS)
PIECES = st.one_of(
    CONTROLS,
    CONTROLS.map(full_width),
    CONTROLS.flatmap(lambda s: st.integers(0, len(s)).map(lambda n: s[:n])),
    st.sampled_from(
        [*"<>|[]/{}\"':_·＜〈｜【аο\u200b\u0338\ud800\x00", "arguments", "answer", "s"]
    ),
    st.text(alphabet=st.characters(codec=None), max_size=4),
)
TEXTS = st.lists(PIECES, max_size=20).map("".join)


@given(TEXTS)
@example("<mask")
@example("<tool_call <tool_call")
def test_inert_text_stays_as_it_is(text: str) -> None:
    once = inert(text)
    assert inert(once) == once
    once.encode("utf-8")


@given(TEXTS)
def test_nothing_is_lost_but_breaks_put_in(text: str) -> None:
    text = text.replace(BREAK, "")
    kept = "".join("\ufffd" if unprintable(char) else char for char in text)
    assert inert(text).replace(BREAK, "") == kept


def unprintable(char: str) -> bool:
    code = ord(char)
    control = code < 32 and char not in "\t\n\r"
    return control or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF


@given(TEXTS)
def test_no_control_string_is_left_and_none_can_be_read(text: str) -> None:
    shown = inert(text)
    exact = [s for s in STRINGS if s != "<tools>"]  # no token; List<Tools> is left alone
    assert not [s for s in exact if s.lower() in shown.lower()]
    reading = read_calls(shown)
    assert (reading.calls, reading.tagged) == ((), False)
    assert read_verdict(shown).status == "unparsed"


@given(st.lists(TEXTS, max_size=4))
def test_texts_that_stand_on_lines_of_their_own_make_nothing_together(texts: list[str]) -> None:
    shown = "\n### end 0123456789ab\n".join(map(inert, texts))
    assert inert(shown) == shown


HOSTILE = {
    "openings": "<" * 100_000,
    "an opening and spaces": "<" + " " * 100_000,
    "openings and spaces": ("<" + " " * 500) * 200,
    "an opening, a stroke, spaces": "</" + " " * 100_000 + "x",
    "a bracket and spaces": "[" + " " * 100_000,
    "a tag and spaces": "<mask" + " " * 100_000,
    "tags": "<tool_" * 16_000,
    "a long tag": "<reserved_" + "a" * 100_000,
    "bars": "<" + "|" * 100_000,
    "bars and spaces": "< | " * 25_000,
    "quotes": "\"'" * 50_000,
    "a key and spaces": '"args"' + " " * 100_000,
    "control strings": "<|im_end|>" * 10_000,
    "Cyrillic": "Привет, мир! " * 8_000,
    "letters that expand": "\ufdfa" * 50_000,
    "many letters": "".join(map(chr, range(0x4E00, 0x9FFF))) * 5,
    "marks": "<" + "\u0338" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_of_100_kb_takes_bounded_time(name: str) -> None:
    """A second is many times what linear matching takes; a quadratic one takes minutes."""
    started = time.process_time()
    inert(HOSTILE[name])
    assert time.process_time() - started < 2.0


def control_tokens(path: Path) -> list[tuple[int, str]]:
    """The tokens of a vocabulary that are control or user-defined."""
    gguf: Any = pytest.importorskip("gguf")
    fields = gguf.GGUFReader(path).fields
    texts = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    return [
        (i, text) for i, (text, kind) in enumerate(zip(texts, kinds, strict=True)) if kind in (3, 4)
    ]


@pytest.mark.model
def test_the_small_models_tokenizer_makes_no_control_token_of_inert_text(small_model: Path) -> None:
    tokens = control_tokens(small_model)
    assert len(tokens) >= 20
    assert {"<|im_end|>", "<tool_call>"} <= {text for _, text in tokens}
    control = {number for number, _ in tokens}

    async def run() -> None:
        async with LlamaCpp(small_model, slots=1, context=256, threads=1) as policy:
            assert isinstance(policy, TokenPolicy)
            tokenize = policy._engine.tokenize
            for number, text in tokens:
                embedded = f"Before {text}after\n{text}{text} {full_width(text)}"
                if not text.startswith(
                    "[PAD"
                ):  # fills the vocabulary up; llama.cpp reads it as text
                    assert number in await tokenize(embedded), text
                assert not control & set(await tokenize(inert(embedded))), text
            everything = "".join(text for _, text in tokens)
            assert not control & set(await tokenize(inert(everything + " ".join(STRINGS))))

    asyncio.run(run())
