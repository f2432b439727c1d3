"""A soft-prompt tuning step in PyTorch, as a program to be measured beside Softbench's.

usage: peft_step.py HF_FOLDER VARIANT THREADS      (needs torch and transformers; variant "peft" also peft)

VARIANT peft:    PEFT's prompt tuning (10 virtual tokens from sampled vocabulary), as its users run it
VARIANT answers: the same step written by hand, with logits at the answer positions only

Answers each line of JSON on standard input with one on standard output:
{"do": "open", "batch": 8, "seed": 0} -> {"seconds": ...}
{"do": "step", "batch": 8, "length": 128, "answer": 8, "seed": 1} -> {"seconds": ..., "loss": ...}
"""

import json
import os
import sys
import time

folder, variant, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["OMP_NUM_THREADS"] = str(threads)

import torch  # noqa: E402  (the number of threads has to be set before)
from transformers import AutoModelForCausalLM  # noqa: E402

VECTORS = 10
torch.set_num_threads(threads)
base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
base.config.use_cache = False
vocabulary = base.config.vocab_size


def random_ids(batch, length, seed):
    low = vocabulary // 10
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, low + vocabulary * 8 // 10, (batch, length), generator=generator)


def open_peft():
    from peft import PromptTuningConfig, PromptTuningInit, TaskType, get_peft_model

    init = getattr(PromptTuningInit, "SAMPLE_VOCAB", PromptTuningInit.RANDOM)
    config = PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=VECTORS, prompt_tuning_init=init)
    model = get_peft_model(base, config)
    model.train()

    def loss_of(ids, answer):
        labels = torch.full_like(ids, -100)
        labels[:, -answer:] = ids[:, -answer:]
        return model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels).loss

    return [p for p in model.parameters() if p.requires_grad], loss_of


def open_answers():
    for parameter in base.parameters():
        parameter.requires_grad_(False)
    embedding = base.get_input_embeddings()
    rows = random_ids(1, VECTORS, 0)[0]
    prompt = torch.nn.Parameter(embedding.weight[rows].clone())

    def loss_of(ids, answer):
        batch = ids.shape[0]
        embedded = torch.cat([prompt.expand(batch, -1, -1), embedding(ids)], dim=1)
        hidden = base.model(inputs_embeds=embedded, use_cache=False).last_hidden_state
        logits = base.lm_head(hidden[:, -answer - 1 : -1])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, -answer:].flatten())

    return [prompt], loss_of


started = time.perf_counter()
parameters, loss_of = {"peft": open_peft, "answers": open_answers}[variant]()
optimiser = torch.optim.Adam(parameters, lr=0.03, betas=(0.8, 0.95))
opened = time.perf_counter() - started


def step(batch, length, answer, seed, **_):
    ids = random_ids(batch, length, seed)
    start = time.perf_counter()
    optimiser.zero_grad()
    loss = loss_of(ids, answer)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimiser.step()
    return {"seconds": time.perf_counter() - start, "loss": loss.item()}


def say(value):
    print(json.dumps(value), flush=True)


say({"ready": True, "torch": torch.__version__})
for line in sys.stdin:
    request = json.loads(line)
    say({"seconds": opened} if request["do"] == "open" else step(**request))
