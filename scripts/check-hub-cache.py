"""Reads a cache of the Hub with Python's own clients; run by check-hub-cache.mjs, which compares. Prints one JSON object."""
import json
import sys

import datasets
import huggingface_hub
from datasets import load_dataset
from huggingface_hub import hf_hub_download, scan_cache_dir, snapshot_download

datasets.disable_progress_bars()
id, configurations = sys.argv[1], sys.argv[2].split(",")
report = {"versions": {"huggingface_hub": huggingface_hub.__version__, "datasets": datasets.__version__, "python": sys.version.split()[0]}}
if "--scan" in sys.argv:
    scanned = scan_cache_dir()
    repositories = [repository for repository in scanned.repos if repository.repo_id == id]
    report["scan"] = {
        "warnings": [str(warning) for warning in scanned.warnings],
        "refs": {ref: revision.commit_hash for repository in repositories for ref, revision in repository.refs.items()},
        "files": sorted(str(file.file_path.relative_to(revision.snapshot_path)) for repository in repositories for revision in repository.revisions for file in revision.files),
        "size": sum(repository.size_on_disk for repository in repositories),
    }
    report["snapshot"] = snapshot_download(id, repo_type="dataset", local_files_only=True)
    report["card"] = open(hf_hub_download(id, "README.md", repo_type="dataset", local_files_only=True)).read()
if "--file" in sys.argv:
    path = hf_hub_download(id, sys.argv[sys.argv.index("--file") + 1], repo_type="dataset")
    report["file"] = path
if "--load" in sys.argv:
    report["rows"] = {configuration: {split: [{key: str(value) for key, value in row.items()} for row in rows] for split, rows in load_dataset(id, configuration).items()} for configuration in configurations}
print(json.dumps(report))
