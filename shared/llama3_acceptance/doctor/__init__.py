"""The doctor: asks an endpoint a handful of short questions, and says why a local model does not call its tools.

- `questions`: what is asked
- `exchanges`: how it is asked, and what came back
- `secrets`: what a server may repeat, and nobody else may see
- `said`: what an answer says, and how a stream differs from it
- `examination`: the order of the questions
- `finding`: what a finding is
- `checks`: what is wrong, and what to do, in the order in which it is told
- `advice`: the lines that work with the server
"""

from llama3_acceptance.doctor.checks import find_faults
from llama3_acceptance.doctor.examination import Examination, examine
from llama3_acceptance.doctor.finding import Finding

__all__ = ["Examination", "Finding", "examine", "find_faults"]
