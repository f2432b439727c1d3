"""How `datasets` reads odd files of every format: `pip install datasets==4.4.2 pandas`, then run it."""
import base64
import datetime
import decimal
import gzip
import io
import json
import os
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import ClassLabel, Dataset, Features, Image, List, Sequence, Value, load_dataset

datasets.disable_progress_bars()
datasets.logging.set_verbosity(datasets.logging.CRITICAL)
cases = []


def shown(value):
    """Pictures are opened by the formatting of `datasets`; a prompt shows none."""
    return str(value)


def add(name, format, files, **options):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        stored = {}
        for file, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            Path(folder, file).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, file).write_bytes(data)
            stored[file] = base64.b64encode(data).decode()
        case = {"name": name, "format": format, "files": stored, "options": options}
        try:
            loaded = load_dataset(format, data_files={"test": [str(Path(folder, file)) for file in files]}, split="test", cache_dir=cache, **options)
            case["rows"] = [{key: shown(value) for key, value in row.items()} for row in loaded]
        except Exception as error:
            case["error"] = type(error).__name__
        cases.append(case)


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# ------------------------------------------------------------------ JSON
add("integers and floats in a column", "json", {"a.jsonl": '{"x": 1}\n{"x": 2.5}\n'})
add("integers and whole floats", "json", {"a.jsonl": '{"x": 1}\n{"x": 2.0}\n'})
add("integers and floats in lists", "json", {"a.jsonl": '{"x": [1, 2]}\n{"x": [2.5]}\n'})
add("integers and floats below keys", "json", {"a.jsonl": '{"x": {"y": 1}}\n{"x": {"y": 2.5}}\n'})
add("keys that some rows lack", "json", {"a.jsonl": '{"x": {"y": 1}}\n{"x": {"z": "a"}, "w": [1]}\n{}\n'})
add("keys that some entries of a list lack", "json", {"a.jsonl": '{"x": [{"y": 1}, {"z": 2}]}\n{"x": []}\n'})
add("keys in another order", "json", {"a.jsonl": '{"x": {"b": 1, "a": 2}}\n{"x": {"a": 3, "b": 4}}\n'})
add("keys in another order, lists of objects", "json", {"a.jsonl": '{"x": [{"b": 1, "a": 2}, {"a": 3, "b": 4}]}\n'})
add("only nulls", "json", {"a.jsonl": '{"x": null, "y": 1}\n{"x": null, "y": null}\n'})
add("null in a list", "json", {"a.jsonl": '{"x": [1, null, 3]}\n{"x": null}\n'})
add("empty lists", "json", {"a.jsonl": '{"x": []}\n{"x": []}\n'})
add("empty objects", "json", {"a.jsonl": '{"x": {}, "y": 1}\n{"x": {}, "y": 2}\n'})
add("large integers", "json", {"a.jsonl": '{"x": 9007199254740993}\n{"x": -9223372036854775808}\n'})
add("texts that look like days", "json", {"a.jsonl": '{"x": "2020-01-02"}\n{"x": "2021-03-04"}\n'})
add("texts that look like times", "json", {"a.jsonl": '{"x": "2020-01-02 03:04:05"}\n{"x": "2021-03-04T05:06:07"}\n'})
add("texts that look like times with zone", "json", {"a.jsonl": '{"x": "2020-01-02T03:04:05Z"}\n'})
add("texts that look like times with fractions", "json", {"a.jsonl": '{"x": "2020-01-02 03:04:05.678"}\n'})
add("days with a text among them", "json", {"a.jsonl": '{"x": "2020-01-02"}\n{"x": "soon"}\n'})
add("days with null", "json", {"a.jsonl": '{"x": "2020-01-02"}\n{"x": null}\n'})
add("days below keys and in lists", "json", {"a.jsonl": '{"x": {"y": "2020-01-02"}, "z": ["2020-01-02"]}\n'})
add("days without zeros", "json", {"a.jsonl": '{"x": "2020-1-2"}\n'})
add("year and month", "json", {"a.jsonl": '{"x": "2020-01"}\n'})
add("years as texts", "json", {"a.jsonl": '{"x": "2020"}\n'})
add("hours and minutes as texts", "json", {"a.jsonl": '{"x": "12:30"}\n'})
add("days of different forms", "json", {"a.jsonl": '{"x": "2020-01-02"}\n{"x": "2020-01-02 03:04:05"}\n'})
add("day before 1970", "json", {"a.jsonl": '{"x": "1066-10-14"}\n'})
add("impossible day", "json", {"a.jsonl": '{"x": "2020-02-30"}\n'})
add("day and hour", "json", {"a.jsonl": '{"x": "2020-01-02 03"}\n'})
add("day, hour and minute", "json", {"a.jsonl": '{"x": "2020-01-02 03:04"}\n'})
add("a list of days as a file", "json", {"a.json": '[{"x": "2020-01-02"}, {"x": "2021-03-04"}]'})
add("texts and numbers", "json", {"a.jsonl": '{"x": "a"}\n{"x": 1}\n'})
add("booleans and numbers", "json", {"a.jsonl": '{"x": true}\n{"x": 1}\n'})
add("booleans", "json", {"a.jsonl": '{"x": true}\n{"x": false}\n{"x": null}\n'})
add("unicode and escapes", "json", {"a.jsonl": '{"x": "\\u00e9 \\ud83d\\ude00 \\n \\"q\\" 東京"}\n'})
add("a list of objects", "json", {"a.json": '[{"x": 1, "y": "a"}, {"x": 2, "y": null}]'})
add("a list of objects over lines", "json", {"a.json": '[\n  {"x": 1},\n  {"x": 2.5}\n]\n'})
add("a list with missing keys", "json", {"a.json": '[{"x": 1}, {"y": 2}]'})
add("a list with integers and null", "json", {"a.json": '[{"x": 1}, {"x": null}]'})
add("a list of nested objects", "json", {"a.json": '[{"x": {"a": 1}, "y": [1, 2]}, {"x": {"a": 2}, "y": []}]'})
add("a list of texts", "json", {"a.json": '["a", "b"]'})
add("an object of columns", "json", {"a.json": '{"x": [1, 2], "y": ["a", "b"]}'})
add("one object", "json", {"a.json": '{"x": 1, "y": "a"}'})
add("one object over lines", "json", {"a.json": '{\n "x": 1,\n "y": "a"\n}'})
add("objects over lines", "json", {"a.json": '{\n "x": 1\n}\n{\n "x": 2\n}\n'})
add("field", "json", {"a.json": '{"version": 1, "data": [{"x": 1}, {"x": 2}]}'}, field="data")
add("field with floats and null", "json", {"a.json": '{"data": [{"x": 1, "y": 1.0, "z": null}, {"x": null, "y": 2.0, "z": "b"}]}'}, field="data")
add("field with nested objects", "json", {"a.json": '{"data": [{"x": {"y": [1, 2], "z": "a"}}, {"x": {"y": [], "z": null}}]}'}, field="data")
add("field with texts that look like days", "json", {"a.json": '{"data": [{"x": "2020-01-02", "date": "2020-01-02"}]}'}, field="data")
add("field with columns", "json", {"a.json": '{"data": {"x": [1, 2], "y": ["a", "b"]}}'}, field="data")
add("field with texts", "json", {"a.json": '{"data": ["a", "b"]}'}, field="data")
add("texts of digits in a list of objects", "json", {"a.json": '[{"x": "1"}, {"x": "2"}]'})
add("texts of digits in lines", "json", {"a.jsonl": '{"x": "1"}\n{"x": "2"}\n'})
add("a column named date", "json", {"a.json": '[{"date": "2020-01-02", "id": "007"}]'})
add("column of timestamps by name", "json", {"a.json": '[{"updated_at": 1577836800, "x": 1577836800}]'})
add("several files", "json", {"a.jsonl": '{"x": 1, "y": "a"}\n', "b.jsonl": '{"x": 2, "y": "b"}\n'})
add("several files with other columns", "json", {"a.jsonl": '{"x": 1}\n', "b.jsonl": '{"x": 2, "y": "b"}\n'})
add("several files with integers and floats", "json", {"a.jsonl": '{"x": 1}\n', "b.jsonl": '{"x": 2.5}\n'})
add("several files with floats and integers", "json", {"a.jsonl": '{"x": 1.5}\n', "b.jsonl": '{"x": 2}\n'})
add("packed", "json", {"a.jsonl.gz": gzip.compress(b'{"x": 1}\n', mtime=0)})
add("byte order mark", "json", {"a.jsonl": b'\xef\xbb\xbf{"x": 1}\n'})
add("blank lines", "json", {"a.jsonl": '\n{"x": 1}\n\n\n{"x": 2}\n\n'})
add("no last line break", "json", {"a.jsonl": '{"x": 1}\n{"x": 2}'})
add("Windows line breaks", "json", {"a.jsonl": '{"x": "a"}\r\n{"x": "b"}\r\n'})
add("exponents", "json", {"a.jsonl": '{"x": 1e3, "y": 1.5e-7, "z": 1E2}\n'})
add("latin-1", "json", {"a.jsonl": '{"x": "é"}\n'.encode("latin-1")}, encoding="latin-1")
add("float in a long column of integers", "json", {"a.jsonl": '{"x": 1}\n' * 20 + '{"x": 0.5}\n'})
add("minus zero", "json", {"a.jsonl": '{"x": -0.0, "y": -0}\n'})
add("a key twice", "json", {"a.jsonl": '{"x": 1, "x": 2}\n'})
add("mixed lists", "json", {"a.jsonl": '{"x": [1, "a"]}\n'})
add("lists of lists", "json", {"a.jsonl": '{"x": [[1], [2, 3], []]}\n{"x": [[0.5]]}\n'})

add("times with offsets", "json", {"a.jsonl": '{"x": "2020-01-02T03:04:05+02:00", "y": "2020-01-02 03:04-0530", "z": "2020-01-02 03Z"}\n'})
add("times without colons", "json", {"a.jsonl": '{"x": "2020-01-02 0304", "y": "2020-01-02T030405", "z": "2020-01-02t03:04:05"}\n'})
add("impossible times", "json", {"a.jsonl": '{"x": "2020-01-02 24:00:00", "y": "2020-01-02 23:60", "z": " 2020-01-02"}\n'})
add("times with and without zone", "json", {"a.jsonl": '{"x": "2020-01-02T03:04:05Z"}\n{"x": "2020-01-02T03:04:05"}\n'})
add("days in a list of objects, below keys", "json", {"a.jsonl": '{"x": [{"on": "2020-01-02"}, {"on": "2021-01-02"}]}\n'})
add("a list of objects with whole floats", "json", {"a.json": '[{"x": 1.0, "y": [1.0, 2.0], "z": {"w": 1.0}, "v": 1.5, "u": 1.0}, {"x": 2.0, "y": [], "z": {"w": 2.0}, "v": 2.0, "u": null}]'})
add("a list of objects with integers and floats in lists", "json", {"a.json": '[{"y": [1, 2.5], "z": {"w": 1}}, {"y": [3], "z": {"w": 0.5, "v": 1}}]'})
add("a list of objects with booleans and null", "json", {"a.json": '[{"x": true}, {"x": null}]'})
add("a list of objects with only null", "json", {"a.json": '[{"x": null, "y": 1}, {"x": null, "y": 2}]'})
add("a list of objects with columns of times by name", "json", {"a.json": '[{"start_time": "2020-01-02T03:04:05", "timestamp": 1577836800000, "modified": "soon", "created_at": "2020-01-02", "Date": "2020-01-02", "update": "2020-01-02"}]'})
add("a list of objects with empty texts", "json", {"a.json": '[{"x": ""}, {"x": "b"}]'})
add("a list of objects with large integers", "json", {"a.json": '[{"x": 9007199254740993}, {"x": 1}]'})
add("a list of objects with mixed kinds", "json", {"a.json": '[{"x": "a"}, {"x": 1}]'})
add("a list of objects with lists of mixed kinds", "json", {"a.json": '[{"x": ["a", 1]}]'})
add("a list of objects with keys in another order", "json", {"a.json": '[{"a": 1, "b": 2}, {"b": 3, "a": 4}]'})
add("a list with numbers alone", "json", {"a.json": '[1, 2]'})

# ------------------------------------------------------------------- CSV
add("types of columns", "csv", {"a.csv": "a,b,c,d,e\n1,1.5,x,true,\n2,2,y,false,\n"})
add("missing values", "csv", {"a.csv": "a,b,c\n1,,NA\n,x,null\n3,None,n/a\n"})
add("integers with a missing one", "csv", {"a.csv": "a\n1\n\n3\n", "b.csv": "a\n5\n"})
add("quotes and line breaks", "csv", {"a.csv": 'a,b\n"x, ""y""","l1\nl2"\n'})
add("semicolons", "csv", {"a.csv": "a;b\n1;x\n"}, sep=";")
add("delimiter", "csv", {"a.csv": "a|b\n1|x\n"}, delimiter="|")
add("tabs", "csv", {"a.tsv": "a\tb\n1\tx\n"}, sep="\t")
add("names given", "csv", {"a.csv": "1,x\n2,y\n"}, column_names=["n", "t"])
add("names given, header skipped", "csv", {"a.csv": "a,b\n1,x\n"}, column_names=["n", "t"], skiprows=1)
add("without header", "csv", {"a.csv": "1,x\n2,y\n"}, header=None)
add("leading zeros", "csv", {"a.csv": "a\n007\n010\n"})
add("large integers in a table", "csv", {"a.csv": "a\n9007199254740993\n1\n"})
add("integers beyond 64 bits", "csv", {"a.csv": "a\n18446744073709551616\n1\n"})
add("booleans of other forms", "csv", {"a.csv": "a,b,c\nTrue,TRUE,yes\nFalse,FALSE,no\n"})
add("booleans with a missing one", "csv", {"a.csv": "a,b\nTrue,1\n,2\n"})
add("days", "csv", {"a.csv": "a\n2020-01-02\n"})
add("spaces", "csv", {"a.csv": "a, b\n 1, x\n 2 , y \n"})
add("scientific", "csv", {"a.csv": "a\n1e3\n2E-2\n"})
add("infinite", "csv", {"a.csv": "a\ninf\n-inf\n"})
add("short row", "csv", {"a.csv": "a,b\n1,x\n2\n"})
add("long row", "csv", {"a.csv": "a,b\n1,x\n2,y,z\n"})
add("same name twice", "csv", {"a.csv": "a,a\n1,2\n"})
add("empty name", "csv", {"a.csv": ",a\n0,x\n1,y\n"})
add("Windows line breaks in a table", "csv", {"a.csv": "a,b\r\n1,x\r\n"})
add("byte order mark in a table", "csv", {"a.csv": b"\xef\xbb\xbfa,b\n1,x\n"})
add("keep NA", "csv", {"a.csv": "a\nNA\nx\n"}, keep_default_na=False)
add("plus signs", "csv", {"a.csv": "a\n+1\n-2\n"})
add("thousands", "csv", {"a.csv": 'a\n"1,000"\n2\n'})
add("single quotes", "csv", {"a.csv": "a,b\n'x,y',1\n"}, quotechar="'")
add("no quotes", "csv", {"a.csv": 'a,b\n"x,1\n'}, quoting=3)
add("Python lists as texts", "csv", {"a.csv": "a\n\"['x', 'y']\"\n"})
add("blank lines in a table", "csv", {"a.csv": "a,b\n\n1,x\n\n2,y\n"})
add("numbers and text", "csv", {"a.csv": "a\n1\nx\n2.50\n"})
add("header in another line", "csv", {"a.csv": "made today\na,b\n1,x\n"}, header=1)
add("names without a header", "csv", {"a.csv": "1,x\n"}, names=["n", "t"], header=None)
add("column of lists and empty ones", "csv", {"a.csv": "a,b\n[],1\n[1],2\n"})
add("index column as pandas writes it", "csv", {"a.csv": ",q\n0,x\n"})
add("digits with underscores, percent", "csv", {"a.csv": "a,b\n1_000,5%\n"})
add("hexadecimal and not numbers", "csv", {"a.csv": "a,b,c\n0x10,1.,.5\n"})
add("very small and long decimals", "csv", {"a.csv": "a\n0.1234567890123456789\n1e-320\n"})
add("packed table", "csv", {"a.csv.gz": gzip.compress(b"a\n1\n", mtime=0)})

# ------------------------------------------------------- parquet and Arrow
utc = datetime.timezone.utc
moment = datetime.datetime(2020, 1, 2, 3, 4, 5)
columns = {
    "strings": pa.array(["a", None, "é"]),
    "large strings": pa.array(["a", None, "é"], pa.large_string()),
    "categories": pa.array(["a", None, "a"]).dictionary_encode(),
    "int8": pa.array([-128, None, 127], pa.int8()),
    "uint8": pa.array([0, None, 255], pa.uint8()),
    "uint32": pa.array([0, None, 2**32 - 1], pa.uint32()),
    "int64": pa.array([2**53 + 1, None, -(2**63)]),
    "uint64": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "float16": pa.array([0.5, None, 2.0], pa.float16()),
    "float32": pa.array([0.1, None, 2.0], pa.float32()),
    "float64": pa.array([0.1, None, float("nan")]),
    "booleans": pa.array([True, None, False]),
    "nulls": pa.nulls(3),
    "dates": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1066, 10, 14)]),
    "seconds": pa.array([moment, None, moment], pa.timestamp("s")),
    "milliseconds": pa.array([moment, None, moment.replace(microsecond=678000)], pa.timestamp("ms")),
    "microseconds": pa.array([moment, None, moment.replace(microsecond=678901)], pa.timestamp("us")),
    "UTC": pa.array([moment, None, moment], pa.timestamp("us", "UTC")),
    "times of day": pa.array([datetime.time(1, 2, 3), None, datetime.time(1, 2, 3, 456)], pa.time64("us")),
    "decimals": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-12345678901234567890.12")], pa.decimal128(38, 2)),
    "short decimals": pa.array([decimal.Decimal("0.005"), None, decimal.Decimal("-1.250")], pa.decimal128(7, 3)),
    "bytes": pa.array([b"\x89PNG'\n", None, b""]),
    "lists": pa.array([[1, None], None, []]),
    "lists of texts": pa.array([["a", "b"], None, []]),
    "lists of lists": pa.array([[[1], None, []], None, [[2.5]]]),
    "fixed lists": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)),
    "objects": pa.array([{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}]),
    "lists of objects": pa.array([[{"a": 1, "b": "x"}], None, [{"a": None, "b": None}, None]]),
    "objects of lists": pa.array([{"text": ["a", "b"], "label": [0, 1]}, None, {"text": [], "label": None}]),
    "lists of days": pa.array([[moment, None], None, []], pa.list_(pa.timestamp("us"))),
    "lists of decimals": pa.array([[decimal.Decimal("1.50")], None, []], pa.list_(pa.decimal128(9, 2))),
    "lists of bytes": pa.array([[b"a", None], None, []]),
}


def parquet_bytes(table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def arrow_bytes(table, kind=pa.ipc.new_stream):
    buffer = io.BytesIO()
    with kind(buffer, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=2):
            writer.write_batch(batch)
    return buffer.getvalue()


for name, array in columns.items():
    table = pa.table({"x": array, "row": pa.array([0, 1, 2])})
    add(f"parquet: {name}", "parquet", {"a.parquet": parquet_bytes(table)})
    add(f"arrow: {name}", "arrow", {"a.arrow": arrow_bytes(table)})
rows = pa.table({"x": pa.array([f"text {i}" for i in range(25)]), "n": pa.array(range(25))})
add("parquet: several row groups", "parquet", {"a.parquet": parquet_bytes(rows, row_group_size=7)})
add("parquet: several files", "parquet", {"a.parquet": parquet_bytes(rows.slice(0, 3)), "b.parquet": parquet_bytes(rows.slice(3, 3))})
add("parquet: no dictionary, second version of pages", "parquet", {"a.parquet": parquet_bytes(rows, use_dictionary=False, data_page_version="2.0")})
add("parquet: columns of bytes split in streams", "parquet", {"a.parquet": parquet_bytes(pa.table({"x": pa.array([0.5, 1.0])}), use_dictionary=False, use_byte_stream_split=True)})
add("parquet: differences", "parquet", {"a.parquet": parquet_bytes(rows, use_dictionary=False, column_encoding={"n": "DELTA_BINARY_PACKED", "x": "DELTA_BYTE_ARRAY"})})
add("parquet: lz4", "parquet", {"a.parquet": parquet_bytes(rows, compression="lz4")})
add("parquet: no rows", "parquet", {"a.parquet": parquet_bytes(rows.slice(0, 0)), "b.parquet": parquet_bytes(rows.slice(0, 2))})
add("arrow: a file with an index", "arrow", {"a.arrow": arrow_bytes(rows, pa.ipc.new_file)})
add("arrow: several files", "arrow", {"a.arrow": arrow_bytes(rows.slice(0, 3)), "b.arrow": arrow_bytes(rows.slice(3, 3))})
made = Dataset.from_dict(
    {"question": ["q1", "q2"], "answer": [0, 1], "choices": [{"text": ["a", "b"], "label": [0, 1]}, {"text": [], "label": []}], "tags": [["x"], []]},
    features=Features({"question": Value("string"), "answer": ClassLabel(names=["no", "yes"]), "choices": Sequence({"text": Value("string"), "label": ClassLabel(names=["n", "y"])}), "tags": List(Value("string"))}),
)
with tempfile.TemporaryDirectory() as folder:
    made.to_parquet(Path(folder, "a.parquet"))
    add("parquet of datasets: class labels, sequence of objects", "parquet", {"a.parquet": Path(folder, "a.parquet").read_bytes()})
add("arrow of datasets: class labels, sequence of objects", "arrow", {"a.arrow": arrow_bytes(made.data.table)})

# ---------------------------------------------------- types that a card gives
cards = []


def card(name, features, file, content, configuration=None, configs="- config_name: default\n  data_files:\n  - split: test\n    path: {}", info="dataset_info:\n  features:\n{}"):
    readme = "---\nconfigs:\n" + configs.format(file) + "\n" + info.format("\n".join("  " + line for line in features.strip("\n").split("\n"))) + "\n---\n"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        Path(folder, "README.md").write_text(readme)
        Path(folder, file).write_text(content)
        one = {"name": name, "files": {"README.md": readme, file: content}, "configuration": configuration}
        try:
            one["rows"] = [{key: shown(value) for key, value in row.items()} for row in load_dataset(folder, configuration, split="test", cache_dir=cache)]
        except Exception as error:
            one["error"] = type(error).__name__
        cards.append(one)


label = "- name: label\n  dtype:\n    class_label:\n      names:\n        '0': neg\n        '1': pos\n"
card("classes by name", label, "a.jsonl", '{"label": "pos"}\n{"label": "neg"}\n{"label": null}\n')
card("classes by number", label, "a.jsonl", '{"label": 1}\n{"label": 0}\n')
card("classes in a table", label + "- name: text\n  dtype: string\n", "a.csv", "label,text\npos,007\nneg,1.50\n")
card("texts in a table", "- name: text\n  dtype: string\n- name: n\n  dtype: float64\n", "a.csv", "text,n\n007,1\n1.50,2\n")
card("numbers as texts", "- name: x\n  dtype: string\n", "a.jsonl", '{"x": 1}\n{"x": 22}\n')
card("floats as texts", "- name: x\n  dtype: string\n- name: y\n  dtype: string\n- name: z\n  dtype: string\n", "a.jsonl", '{"x": 1.0, "y": 0.1, "z": true}\n{"x": 2.5, "y": 1e20, "z": false}\n')
card("days as texts", "- name: x\n  dtype: string\n", "a.jsonl", '{"x": "2020-01-02"}\n{"x": "2021-01-02"}\n')
card("texts as numbers", "- name: x\n  dtype: int64\n- name: y\n  dtype: float64\n", "a.jsonl", '{"x": "1", "y": "2"}\n{"x": "22", "y": "0.5"}\n')
card("integers as floats", "- name: x\n  dtype: float32\n", "a.jsonl", '{"x": 1}\n{"x": 3}\n')
card("short floats", "- name: x\n  dtype: float32\n", "a.jsonl", '{"x": 0.1}\n{"x": 3.0}\n')
card("whole floats as integers", "- name: x\n  dtype: int32\n", "a.jsonl", '{"x": 1.0}\n{"x": 3.0}\n')
card("columns that are missing", "- name: x\n  dtype: int64\n- name: y\n  list: string\n", "a.jsonl", '{"x": 1}\n')
card("sequence of objects", "- name: c\n  sequence:\n  - name: text\n    dtype: string\n  - name: label\n    dtype: int64\n", "a.jsonl", '{"c": {"text": ["a", "b"], "label": [0, 1]}}\n{"c": {"text": [], "label": []}}\n')
card("list of objects", "- name: c\n  list:\n  - name: text\n    dtype: string\n  - name: n\n    dtype: float64\n", "a.jsonl", '{"c": [{"text": "a", "n": 1}]}\n{"c": []}\n')
card("structs", "- name: c\n  struct:\n  - name: b\n    dtype: string\n  - name: a\n    dtype: float64\n", "a.jsonl", '{"c": {"a": 1, "b": "x"}}\n{"c": null}\n')
card("lists of classes", "- name: c\n  list:\n    class_label:\n      names:\n        '0': a\n        '1': b\n", "a.jsonl", '{"c": ["b", "a"]}\n')
card("lists of numbers", "- name: c\n  sequence: float32\n- name: d\n  list: string\n", "a.jsonl", '{"c": [1, 2], "d": ["x"]}\n')
card("a list of objects as a file", label + "- name: x\n  dtype: float64\n", "a.json", '[{"label": "pos", "x": 1.0}, {"label": "neg", "x": 2.0}]')
card("another configuration", label, "a.jsonl", '{"label": "pos"}\n', "other", "- config_name: other\n  data_files:\n  - split: test\n    path: {}", "dataset_info:\n- config_name: other\n  features:\n{}")
card("moments", "- name: x\n  dtype: timestamp[s]\n- name: y\n  dtype: timestamp[ms]\n", "a.jsonl", '{"x": "2020-01-02 03:04:05", "y": 1577836800000}\n')

path = Path(__file__).parent.parent / "data-values.json"
path.write_text(json.dumps({"versions": {"datasets": datasets.__version__, "pyarrow": pa.__version__, "pandas": __import__("pandas").__version__}, "cases": cases, "cards": cards}, ensure_ascii=False, indent=1) + "\n")
print([(one["name"], one.get("rows", one.get("error"))) for one in cards])
print(len(cases), "cases;", [(case["name"], case["error"]) for case in cases if "error" in case])
