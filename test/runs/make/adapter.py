"""Makes test/fixtures/runs: a prompt-tuning adapter written by PEFT, and a safetensors file with several element types.

    python test/runs/make/adapter.py make            writes the fixtures
    python test/runs/make/adapter.py load FOLDER     loads an adapter folder with PEFT and prints its prompt embeddings

Needs torch, transformers, peft, safetensors (made with torch 2.15.0, transformers 4.57.6, peft 0.21.2).
"""

import json
import sys
from pathlib import Path

import torch
from peft import PeftModel, PromptTuningConfig, TaskType, get_peft_model
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

folder = Path(__file__).resolve().parents[2] / "fixtures" / "runs"


def tiny():
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=32, n_embd=8, n_layer=1, n_head=2))


def make():
    config = PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=3)
    model = get_peft_model(tiny(), config)
    model.save_pretrained(folder / "peft-adapter", safe_serialization=True)
    (folder / "peft-adapter" / "README.md").unlink(missing_ok=True)
    values = model.get_prompt_embedding_to_save("default")
    (folder / "peft-adapter.json").write_text(json.dumps(values.double().tolist()) + "\n")

    numbers = torch.tensor([[0.0, -1.5, 3.140625], [65504.0, 2.0**-24, -(2.0**-14)]])
    save_file(
        {
            "f64": numbers.double(),
            "f32": numbers.float(),
            "f16": numbers.half(),
            "bf16": numbers.bfloat16(),
            "i64": torch.tensor([1, -2]),
            "empty": torch.zeros(0, 4),
        },
        folder / "types.safetensors",
        metadata={"made by": "safetensors"},
    )
    (folder / "types.json").write_text(
        json.dumps({name: numbers.to(kind).double().tolist() for name, kind in
                    {"f64": torch.double, "f32": torch.float, "f16": torch.half, "bf16": torch.bfloat16}.items()}) + "\n"
    )


def load(path):
    model = PeftModel.from_pretrained(tiny(), path)
    with torch.no_grad():
        prompt = model.get_prompt(batch_size=1)
        model(input_ids=torch.tensor([[1, 2, 3]]))
    print(json.dumps(prompt[0].double().tolist()))


if __name__ == "__main__":
    make() if sys.argv[1] == "make" else load(sys.argv[2])
