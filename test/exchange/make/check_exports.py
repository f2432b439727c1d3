"""Reads exported runs with the tools of their own projects, and writes down what these say and of which files.

usage: python check_exports.py EXPORT_FOLDER REAL_RESULTS.json OUT.json
needs: pip install "lm_eval[hf]==0.4.13" torch jsonschema pydantic rich
       pip install --no-deps --ignore-requires-python every-eval-ever==0.3.0   (asks for Python 3.12; its schemas need none)

EXPORT_FOLDER is what test/exchange/export.test.ts writes with SOFTBENCH_EXPORTS=EXPORT_FOLDER; REAL_RESULTS.json a results
file of lm-evaluation-harness itself (test/fixtures/exchange/lm-eval). The test then compares the SHA-256 of what it writes
with that of the files which were accepted here.
"""

import hashlib
import json
import os
import sys
import tempfile
from importlib import metadata, resources
from pathlib import Path

os.environ["HF_DATASETS_OFFLINE"] = "1"
exports, real, out = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")), Path(sys.argv[3])
digest = lambda file: hashlib.sha256(file.read_bytes()).hexdigest()
checked = {"files": {}}

# ---------------------------------------------------------------- lm-evaluation-harness
from datasets import load_dataset
from lm_eval.utils import get_file_datetime, get_file_task_name, get_latest_filename, get_results_filenames, get_sample_results_filenames, make_table

folder = exports / "lm-eval"
names = ["/" + str(file.relative_to(folder)) for file in sorted(folder.rglob("*.json*"))]
results_files, sample_files = get_results_filenames(names), get_sample_results_filenames(names)
assert len(results_files) + len(sample_files) == len(names), names
kind = lambda value: "null" if value is None else type(value).__name__
# Written by the Hugging Face backend and tokenizer only; other backends of lm-eval leave them out as well.
of_backend = {"model_num_parameters", "model_dtype", "model_revision", "model_sha", "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token", "eot_token_id", "max_length"}
tables, keys, samples = [], {}, []
for name in results_files:
    file = folder / name[1:]
    results = json.loads(file.read_text(encoding="utf-8"))
    tables.append(make_table(results))
    keys["missing"] = sorted(set(real) - set(results) - of_backend - {"groups"})
    keys["own"] = sorted(set(results) - set(real))
    # A value that is null in one and text in the other (no template, no commit) is of the same kind.
    keys["otherwise typed"] = sorted(k for k in set(results) & set(real) if kind(results[k]) != kind(real[k]) and None not in (results[k], real[k]))
    keys["config"] = sorted(set(real["config"]) - set(results["config"]) - of_backend)
    for task, entry in results["results"].items():
        assert {"name", "alias", "sample_len"} <= set(entry) and all("," in key for key in set(entry) - {"name", "alias", "sample_len"}), entry
        assert all(f"{key.split(',')[0]}_stderr,{key.split(',')[1]}" in entry for key in entry if "," in key and "_stderr" not in key)
        assert task in results["configs"] and task in results["versions"] and task in results["n-shot"] and task in results["n-samples"]
    assert get_file_datetime(name).replace(".json", "") == get_file_datetime(get_latest_filename([s for s in sample_files if get_file_datetime(name).replace(".json", "") in s])), name
    checked["files"][f"lm-eval{name}"] = digest(file)
with tempfile.TemporaryDirectory() as cache:
    for name in sample_files:
        file = folder / name[1:]
        rows = load_dataset("json", data_files=str(file), split="train", cache_dir=cache)
        samples.append({"task": get_file_task_name(Path(name).name), "rows": len(rows), "columns": sorted(rows.column_names)})
        checked["files"][f"lm-eval{name}"] = digest(file)
checked["lm-eval"] = {"version": metadata.version("lm_eval"), "keys": keys, "tables": tables, "samples": samples}

# ---------------------------------------------------------------- Every Eval Ever
from every_eval_ever.validator import validation_core as rules
from jsonschema import Draft7Validator

schemas = resources.files("every_eval_ever") / "schemas"
schema = lambda name: Draft7Validator(json.loads((schemas / name).read_text(encoding="utf-8")))
aggregate, instance = schema("eval.schema.json"), schema("instance_level_eval.schema.json")
folder = exports / "every-eval-ever"
problems, rows = [], 0
for file in sorted(folder.rglob("*.json")):
    value = json.loads(file.read_text(encoding="utf-8"))
    path = file.relative_to(folder).as_posix()
    problems += [f"{path}: {list(error.path)}: {error.message}" for error in aggregate.iter_errors(value)]
    problems += [f"{path}: {text}" for text in rules.check_path_structure(path)]
    for check in (rules.check_score_metadata, rules.check_model_deployment):
        problems += [f"{path}: {text}" for text in check(value)]
    problems += [f"{path}: {text}" for text in rules.check_model_identity_path(path, value)]
    companion = rules.resolve_companion_repo_path(path, value)
    if companion:
        assert digest(folder / companion) == value["detailed_evaluation_results"]["checksum"]
    checked["files"][f"every-eval-ever/{path}"] = digest(file)
for file in sorted(folder.rglob("*.jsonl")):
    path = file.relative_to(folder).as_posix()
    for line in file.read_text(encoding="utf-8").splitlines():
        rows += 1
        problems += [f"{path}: {list(error.path)}: {error.message}" for error in instance.iter_errors(json.loads(line))]
    problems += [f"{path}: {text}" for text in rules.check_path_structure(path)]
    checked["files"][f"every-eval-ever/{path}"] = digest(file)
checked["every-eval-ever"] = {"schema": json.loads((schemas / "eval.schema.json").read_text(encoding="utf-8"))["version"], "rows": rows, "problems": problems}

out.write_text(json.dumps(checked, indent=2, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
print(json.dumps({key: value for key, value in checked.items() if key != "files"}, indent=2, ensure_ascii=False))
sys.exit(1 if problems or keys["missing"] or keys["config"] or keys["otherwise typed"] else 0)
