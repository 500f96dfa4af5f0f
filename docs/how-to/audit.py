"""An audit of answers without gold: here the recorded gold is the expert."""

import workbench as wb

labels, gold = wb.load("rte")
answers = wb.aggregate(labels).to_frame()
audit = wb.audit(answers, error=0.1, risk=0.05, seed=1)  # for a real audit leave the seed out
while not audit.certified:
    for task in audit.next(10):
        audit.tell(task, gold[task])
print(audit.summary())
audit.plot().savefig("audit.png", dpi=160)
