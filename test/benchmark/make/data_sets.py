"""Which files `datasets` takes for which split, and a parquet file of pyarrow: `pip install datasets==4.4.2`, then run it."""
import base64
import io
import json
import os
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import load_dataset_builder

card = "---\nlicense: mit\nconfigs:\n{}\n---\n# A data set\n"
layouts = {
    "shards": (["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/test-00000-of-00001.parquet", "README.md"], {}, [None]),
    "shards of own splits": (["data/zeta-00000-of-00001.parquet", "data/alpha-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"], {}, [None]),
    "names of files": (["train.jsonl", "dev.jsonl", "test.jsonl", "LICENSE"], {}, [None]),
    "names with words beside": (["my_train.csv", "my-val.csv", "eval_1.csv", "notes.txt"], {}, [None]),
    "names of folders": (["train/a.jsonl", "train/b.jsonl", "validation/c.jsonl", "extra.jsonl"], {}, [None]),
    "folders with words beside": (["set-training-2/a.jsonl", "set-test/b.jsonl"], {}, [None]),
    "nothing says a split": (["rows.jsonl", "more/rows2.jsonl"], {}, [None]),
    "mixed formats": (["train.jsonl", "train.csv", "train_2.jsonl", "test.jsonl"], {}, [None]),
    "hidden": (["train.jsonl", ".cache/train.jsonl", "__pycache__/train.jsonl", "dataset_infos.json"], {}, [None]),
    "word inside a word": (["constrained.jsonl", "latest.jsonl"], {}, [None]),
    "card": (
        ["main/train-00000-of-00001.parquet", "main/test-00000-of-00001.parquet", "socratic/train-00000-of-00001.parquet", "socratic/test-00000-of-00001.parquet"],
        {"README.md": card.format("- config_name: main\n  data_files:\n  - split: train\n    path: main/train-*\n  - split: test\n    path: main/test-*\n- config_name: socratic\n  data_files:\n  - split: train\n    path: socratic/train-*\n  - split: test\n    path: socratic/test-*")},
        ["main", "socratic"],
    ),
    "card with a default": (
        ["a.jsonl", "b/test.jsonl", "b/train.jsonl"],
        {"README.md": card.format("- config_name: one\n  data_files: a.jsonl\n- config_name: two\n  default: true\n  data_dir: b")},
        [None, "one", "two"],
    ),
    "card with lists": (
        ["x/1.jsonl", "x/2.jsonl", "y.jsonl"],
        {"README.md": card.format("- config_name: default\n  data_files:\n  - split: fold_1\n    path:\n    - x/*\n    - y.jsonl\n  - split: fold_2\n    path: x/2.jsonl")},
        [None],
    ),
}

found = []
for name, (files, texts, configurations) in layouts.items():
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.endswith(".parquet"):
                pq.write_table(pa.table({"a": [1]}), path)
            else:
                path.write_text('{"a": 1}\n' if file.endswith("jsonl") else "{}" if file.endswith("json") else "" if file == "README.md" else "a\n1\n")
        for file, text in texts.items():
            Path(folder, file).write_text(text)
        for configuration in configurations:
            builder = load_dataset_builder(folder, configuration)
            splits = {str(split): [str(Path(f).relative_to(Path(folder).resolve())) for f in files] for split, files in builder.config.data_files.items()}
            found.append({"layout": name, "files": files, "readme": texts.get("README.md"), "configuration": configuration, "splits": splits})

rows = [
    {"id": 1, "big": 2**40, "score": 1.0, "half": 0.5, "text": "naïve 東京", "flag": True, "none": None, "choices": {"text": ["a", "b"], "label": [0, 1]}, "list": [1.0, 2.5], "deep": [{"q": "x", "n": 3}, {"q": "y", "n": 4}], "empty": []},
    {"id": 2, "big": None, "score": None, "half": -3.0, "text": None, "flag": False, "none": None, "choices": {"text": [], "label": []}, "list": None, "deep": [], "empty": []},
]
table = pa.Table.from_pylist(rows)
parquet = {}
for compression in ["none", "snappy", "gzip", "zstd", "brotli"]:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression=compression)
    parquet[compression] = base64.b64encode(buffer.getvalue()).decode()
printed = [{key: repr(value) for key, value in row.items()} for row in table.to_pylist()]
path = Path(__file__).parent.parent / "data-sets.json"
path.write_text(json.dumps({"versions": {"datasets": datasets.__version__, "pyarrow": pa.__version__}, "layouts": found, "parquet": parquet, "printed": printed}, ensure_ascii=False, indent=1) + "\n")
