"""A Qwen2 of random weights and its tokenizer, small enough to train in a test; no hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

QWEN = (  # the form of Qwen2.5's template, in fewer words
    "{%- if tools %}<|im_start|>system\n"
    "{%- if messages[0].role == 'system' %}{{ messages[0].content }}\n{%- endif %}"
    "Tools:{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}<|im_end|>\n"
    "{%- elif messages[0].role == 'system' %}<|im_start|>system\n"
    "{{ messages[0].content }}<|im_end|>\n{%- endif %}"
    "{%- for message in messages %}{% if not (loop.first and message.role == 'system') %}"
    "<|im_start|>{{ 'user' if message.role == 'tool' else message.role }}\n"
    "{{ '<tool_response>\n' + message.content + '\n</tool_response>' if message.role == 'tool' "
    "else message.content }}<|im_end|>\n{% endif %}{% endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>")


def tokenizer(template: str = QWEN, texts: Sequence[str] = ()) -> Any:
    """Bytes and the merges of the repository's README: any text goes through it and back."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=[*SPECIAL[:3]],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    readme = Path(__file__).parents[2] / "README.md"
    made.train_from_iterator([readme.read_text(), *texts], trainer)
    made.add_tokens([AddedToken(each, special=False, normalized=False) for each in SPECIAL[3:]])
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=template,
        clean_up_tokenization_spaces=False,
    )


def model(tokenizer: Any, seed: int = 0) -> Any:
    """Two layers of 32; the same weights for the same seed."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Qwen2ForCausalLM(config).float()


def saved(folder: Path, seed: int = 0) -> Path:
    """Model and tokenizer in a folder, as `from_pretrained` reads them."""
    made = tokenizer()
    model(made, seed).save_pretrained(folder)
    made.save_pretrained(folder)
    return folder
