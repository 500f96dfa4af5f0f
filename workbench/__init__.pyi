"""Every name of `import workbench as wb`, in the order of the reference.

The one list of them: the package, type checkers, the reference page and tests read it.
"""

# ruff: isort: skip_file

# Labels
from workbench.api.reading import read_labels as read_labels
from workbench.api.reading import read_gold as read_gold
from workbench.api.reading import load as load
from workbench.api.converting import convert as convert
from workbench.api.checking import check as check
from workbench.api.labelling import aggregate as aggregate
from workbench.api.labelling import ModelOptions as ModelOptions

# Workers
from workbench.api.hiring import hire as hire
from workbench.api.hiring import HiringOptions as HiringOptions
from workbench.api.learning import learn as learn
from workbench.api.learning import LearningOptions as LearningOptions
from workbench.api.learning import Replay as Replay

# Plans
from workbench.api.planning import plan as plan
from workbench.api.planning import TaskLimits as TaskLimits
from workbench.api.planning import PlanOptions as PlanOptions
from workbench.api.comparing import compare as compare
from workbench.api.sampling import SampleOptions as SampleOptions
from workbench.api.bad_instances import bad_instance as bad_instance
from workbench.api.climbing import ladder as ladder

# Collecting
from workbench.collection.collector import Collector as Collector
from workbench.api.standing import standing as standing
from workbench.api.collecting import collect as collect
from workbench.api.collecting import KnownTasks as KnownTasks
from workbench.collection.setup import People as People
from workbench.collection.setup import ClosingRules as ClosingRules

# Audits
from workbench.api.auditing import audit as audit
from workbench.api.auditing import Auditor as Auditor
from workbench.api.auditing import plan_audit as plan_audit
from workbench.api.collection_audit import audit_collection as audit_collection

# Problems
from workbench.api.solving import solve as solve
from crowd_models import requirement as requirement
from crowd_models import AssignmentProblem as AssignmentProblem
from crowd_models import TypedProblem as TypedProblem
from crowd_models import SelectionProblem as SelectionProblem

# Simulation and studies
from workbench.api.policies import policy as policy
from workbench.api.simulation import simulate as simulate
from workbench.api.simulation import simulate_panel as simulate_panel
from workbench.api.studying import run_study as run_study
from workbench.api.studying import DaskCluster as DaskCluster
from workbench.api.studying import TrialRules as TrialRules
from workbench.api.ranking import leaderboard as leaderboard
from workbench.api.studying import report as report

# Errors
from workbench.base.errors import InputError as InputError

__version__: str
