"""Sixty messy files, five of each of twelve kinds: read right, told of, or refused; never silent.

A file is read as it should be without a word, or with one, or refused in a line with the reason.
"""

from __future__ import annotations

import json
import unicodedata

import pytest

import workbench as wb

HEAD = "task,worker,label\n"
BODY = "t1,a,yes\nt1,b,no\nt2,a,yes\nt2,b,yes\n"
PLAIN = HEAD + BODY
RIGHT = [line.split(",") for line in BODY.split()]
READ, TOLD, REFUSED = "read", "told", "refused"
DECOMPOSED = unicodedata.normalize("NFD", "é")
LISTS = [["cat", "dog"], ["cat"]]
TYPOS = "".join(f"t{k},a,positive\nt{k},b,negative\n" for k in range(60)) + "t99,a,postive\n"
TEXTS = "".join(f"t{k % 20},w{k // 20},this is text {k}\n" for k in range(60))
SURE = "".join(f"t{k % 20},w{k // 20},0.{k}37\n" for k in range(1, 60))


def records(*labels):
    return json.dumps(
        [{"task": 1, "worker": f"w{k}", "label": label} for k, label in enumerate(labels)]
    )


FILES = {
    "bytes: a mark": (("\ufeff" + PLAIN).encode(), READ, RIGHT),
    "bytes: UTF-16": (PLAIN.encode("utf-16"), READ, RIGHT),
    "bytes: Windows": (PLAIN.replace("no", "né").encode("cp1252"), TOLD, "not UTF-8"),
    "bytes: old Mac": (PLAIN.replace("\n", "\r").encode(), READ, RIGHT),
    "bytes: both ends of lines": ((HEAD[:-1] + "\r\n" + BODY).encode(), READ, RIGHT),
    "separators: semicolons": (PLAIN.replace(",", ";"), READ, RIGHT),
    "separators: bars": (PLAIN.replace(",", "|"), READ, RIGHT),
    "separators: tabs": (PLAIN.replace(",", "\t"), READ, RIGHT),
    "separators: in quotes": (
        HEAD + '"t1","a","yes, so"\n"t1","b","no"\n',
        READ,
        [["t1", "a", "yes, so"], ["t1", "b", "no"]],
    ),
    "separators: one more": (PLAIN.replace("\n", ",\n"), READ, RIGHT),
    "blanks: around": (PLAIN.replace("t1,a,yes", " t1 , a ,yes "), READ, RIGHT),
    "blanks: rows": (PLAIN.replace("t1,b", "\n,,\nt1,b"), READ, RIGHT),
    "blanks: a row of totals": (PLAIN + "Total,,4\n", REFUSED, "line 6: worker is empty"),
    "blanks: not breaking": (PLAIN.replace("a,yes", "a,yes\u00a0"), READ, RIGHT),
    "blanks: two within": (HEAD + "t1,a,so  so\nt1,b,so so\n", TOLD, "spelled alike"),
    "ids: zeros before": (HEAD + "007,a,yes\n7,b,no\n", TOLD, "tasks '007', '7'"),
    "ids: floats": (HEAD + "12.0,a,yes\n12.0,b,no\n", TOLD, "tasks as 12.0 are read as 12"),
    "ids: powers of ten": (HEAD + "1e5,a,yes\n100000,b,no\n", TOLD, "tasks '1e5', '100000'"),
    "ids: case": (HEAD + "t1,Ann,yes\nt1,ann,no\n", TOLD, "workers 'Ann', 'ann'"),
    "ids: Unicode": (HEAD + f"caf\u00e9,a,yes\ncaf{DECOMPOSED},b,no\n", TOLD, "spelled alike"),
    "labels: case": (HEAD + "t1,a,Yes\nt1,b,yes\n", TOLD, "spelled alike"),
    "labels: a full stop": (HEAD + "t1,a,yes.\nt1,b,yes\n", TOLD, "spelled alike"),
    "labels: floats": (HEAD + "t1,a,1.0\nt1,b,0\n", TOLD, "labels as 1.0 are read as 1"),
    "labels: truth values": (HEAD + "t1,a,True\nt1,b,TRUE\n", TOLD, "spelled alike"),
    "labels: a slip": (HEAD + TYPOS, TOLD, "'postive' looks like a slip of 'positive'"),
    "abstentions: unsure": (PLAIN + "t3,a,unsure\n", TOLD, "'unsure' may be no answer"),
    "abstentions: skip": (PLAIN + "t3,a,SKIP\n", TOLD, "'SKIP' may be no answer"),
    "abstentions: a mark": (PLAIN + "t3,a,?\n", TOLD, "'?' may be no answer"),
    "abstentions: N/A": (PLAIN + "t3,a,N/A\n", TOLD, "'N/A' may be no answer"),
    "abstentions: a sentence": (PLAIN + "t3,a,I don't know\n", TOLD, "may be no answer"),
    "missing: NA": (PLAIN + "t3,a,NA\n", REFUSED, "line 6: label is 'NA'"),
    "missing: -1": (HEAD + "t1,a,0\nt1,b,1\nt2,a,-1\n", TOLD, "'-1' may be no answer"),
    "missing: nothing": (PLAIN + "t3,a,\n", TOLD, "left out: 1 without a label"),
    "missing: None": (PLAIN + "t3,a,None\n", TOLD, "'None' may be no answer"),
    "missing: 99": ("task,a,b\nt1,1,0\nt2,99,1\nt3,0,0\n", TOLD, "'99' may be no answer"),
    "twice: a row": (PLAIN + "t1,a,yes\n", REFUSED, "line 6: task 't1' and worker 'a' appear"),
    "twice: another label": (PLAIN + "t1,a,no\n", REFUSED, "line 6: task 't1' and worker 'a'"),
    "twice: a task": ("task,a,b\nt1,1,0\nt1,1,1\nt2,0,1\n", REFUSED, "no column for worker"),
    "twice: a column": ("task,a,a\nt1,1,0\nt2,1,1\nt3,0,1\n", REFUSED, "worker 'a' appears"),
    "twice: a key": ('{"t1":{"a":"x","a":"y"}}', REFUSED, "key 'a' appears twice"),
    "several: a bar": (HEAD + "1,a,cat\n1,b,dog\n2,a,cat|dog\n", REFUSED, "several answers"),
    "several: a semicolon": (HEAD + "1,a,cat\n1,b,dog\n2,a,cat;dog\n", REFUSED, "several answers"),
    "several: a list in text": (HEAD + "1,a,\"['x', 'y']\"\n1,b,x\n", TOLD, "read as sets"),
    "several: a list": (records(*LISTS), TOLD, "read as sets of labels"),
    "several: a mapping": (records({"name": "cat"}, {"name": "dog"}), REFUSED, "is no class"),
    "headers: twice": (HEAD + BODY[:9] + HEAD + BODY[9:], TOLD, "1 that repeat the header"),
    "headers: a remark": ("# exported\n" + PLAIN, REFUSED, "line 2: 3 fields, but 1 on line 1"),
    "headers: a title": ("My project,,\n" + PLAIN, REFUSED, "no column for task, worker, label"),
    "headers: two": (
        "Task,Worker,Label\nID of task,ID of worker,The label\n" + BODY,
        TOLD,
        "is it a second header?",
    ),
    "headers: an index": (",task,worker,label\n0,t1,a,yes\n1,t1,b,no\n", READ, RIGHT[:2]),
    "columns: free text": (HEAD + TEXTS, TOLD, "are they free text"),
    "columns: numbers": (HEAD + SURE, TOLD, "is another column the label?"),
    "columns: two labels": ("task,worker,label,answer\nt,a,y,n\n", REFUSED, "keep one, or say"),
    "columns: two workers": ("task,annotator,user,label\nt,a,u,y\n", REFUSED, "name the worker"),
    "columns: no task": ("text,worker,label\nhello,a,y\nhello,b,n\n", REFUSED, "column for task"),
    "broken: JSON": ('[{"task":1,"worker":"a","label":"x"},{"task":1,', REFUSED, "not JSON"),
    "broken: empty": ("", REFUSED, "empty"),
    "broken: a short row": (HEAD + "t1,a\nt1,b,no\n", REFUSED, "line 2: 2 fields, but 3"),
    "broken: a workbook": (
        b"PK\x03\x04\x14\x00\x06\x00\x08\x00" + bytes(range(256)),
        REFUSED,
        "save it as UTF-8",
    ),
    "broken: a page": ("<html><body>task</body></html>\n", REFUSED, "add the rows"),
}


def test_there_are_sixty_of_twelve_kinds():
    kinds = [name.partition(":")[0] for name in FILES]
    assert len(kinds) == 60
    assert {kinds.count(kind) for kind in kinds} == {5}


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_silent_nonsense(name, tmp_path):
    content, outcome, expected = FILES[name]
    content = content.encode() if isinstance(content, str) else content
    path = tmp_path / ("labels.json" if content[:1] in (b"{", b"[") else "labels.csv")
    path.write_bytes(content)
    if outcome == REFUSED:
        with pytest.raises(wb.InputError) as caught:
            wb.read_labels(path)
        assert expected in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    table = wb.read_labels(path)
    if outcome == READ:
        assert table[["task", "worker", "label"]].to_numpy().tolist() == expected
        assert not table.attrs["notes"]
    else:
        assert expected in "; ".join(table.attrs["notes"])
