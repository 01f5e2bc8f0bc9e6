"""Runs samples of code, each as a program of its own that prints something, and reports the faults by place."""

import contextlib
import io
import json
import sys
import traceback

for sample in json.load(sys.stdin):
    fault, printed = None, io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(sample["code"], sample["place"], "exec"), {"__name__": "__main__"})
        assert printed.getvalue().strip() or "print(" not in sample["code"], "it printed nothing"
    except BaseException:
        fault = traceback.format_exc()
    print(json.dumps({"place": sample["place"], "fault": fault}), flush=True)
