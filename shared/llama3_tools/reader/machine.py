"""The machine: its states, and what it does with what begins in each.

A chunk is appended to the window. Then the step of the state that the turn is in reads on, and may leave it in another
state, until more text is needed:

- TEXT searches for what may begin something: a line on which a tool is named, a brace, markup.
- GAP takes all that may stand before, between and after calls in one match, and looks at what follows: an object or the
  name of a tool begins a candidate; anything else is text, and so is then what was held.
- REGION searches quotation for its end, and for candidates, which are reported.
- The others read a candidate: `candidates` has them.

What begins is taken by `openings`, a candidate read by `candidates`, and decided on by `decisions`. What is undecided
is in one place each: markup and calls that wait in `content`, the open candidate in `candidate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.content import Content
from llama3_tools.reader.decisions import BROKEN_OFF
from llama3_tools.reader.markup import LIST_END, OBJECT_BEGINS
from llama3_tools.reader.openings import KEPT_MARKUP, TAKE, Openings
from llama3_tools.reader.quotation import IN_BLOCKQUOTE, IN_RESULT, IN_THOUGHTS
from llama3_tools.reader.regions import region_of_tag
from llama3_tools.reader.rejections import Rejections
from llama3_tools.reader.rules import Rules
from llama3_tools.reader.switches import is_off
from llama3_tools.reader.turn import ARGUMENTS, CODE, GAP, MENDING, OBJECT, REGION, TEXT, State
from llama3_tools.values import Extraction, RejectionReason

__all__ = ["Machine"]

_MAY_GO_ON = frozenset(" \t\n\r;,<[*->f")
"""What a run of markup may go on with."""


class Machine(Openings):
    """One turn. Each step says whether to go on (`True`), or to wait for text; `stream` has what is public."""

    __slots__ = ()

    def run(self) -> None:
        """Read on until more text is needed."""
        steps = _STEPS
        while steps[self.state](self):
            pass

    @classmethod
    def of(cls, rules: Rules, *, keep_content: bool) -> Machine:
        """Begin a turn that is read by some rules."""
        options = rules.options
        content, rejections = Content(is_kept=keep_content), Rejections(options.limits.max_rejections)
        machine = cls(rules, content, rules.grammars[0], rejections)
        if options.starts_reasoning:
            machine.begin_region(region_of_tag("think", IN_THOUGHTS)._replace(is_split=options.split_reasoning))
        return machine

    def finish(self) -> Extraction:
        """Take the end of the output."""
        self.ended, self.grammar = True, self.rules.grammars[1]
        content = self.content
        if self.is_aborted and content.waiting:
            self.settle(lambda _: BROKEN_OFF)
        self.run()
        if content.waiting:
            self.settle()
        end = self.base + len(self.text)
        content.end(end)
        if self.region is None:
            self.report_leftovers(len(self.text))
        else:
            content.end_quotation(end)
        if not content.calls and not self.has_words:
            self.rejections.mean_quoted()
        return Extraction(content.whole(), tuple(content.calls), self.rejections.in_order(), content.reasoning)

    def hold_no_more_than_a_call(self) -> None:
        """Make the calls that wait, if they hold back more than a call may have."""
        first = self.content.waiting[0].call.span[0]
        if self.base + len(self.text) - first > self.rules.limits.max_call_length:
            self.settle()

    def read_text(self) -> bool:
        """Search text for what may begin something."""
        text = self.text
        found = self.grammar.first(text, max(self.pos, self.searched))
        end = len(text) if found is None else found.start()
        if end > self.pos:
            self.put(end)
        if found is None:
            return False
        if end + 1 == len(text) and not self.ended:
            return False
        if text[end] == "{":
            return self.begin_object(end)
        if text[end] == "*" and self.content.is_bold:
            self.searched = end + 2  # it ends bold in the text
            return True
        self.state = GAP
        return True

    def read_gap(self) -> bool:  # noqa: C901, PLR0911 (what may follow, one after the other)
        """Take what may stand between calls, and see what follows."""
        text, pos = self.text, self.pos
        grammar = self.grammar
        is_after_text = self.content.is_after_text and not (self.markup or self.in_list)
        run = (grammar.run_after_text if is_after_text else grammar.run)(text, pos)
        end = run.end()  # type: ignore[union-attr]  # it may match nothing
        if end > pos:
            self.take_run(run, text[pos:end])  # type: ignore[arg-type]
            self.pos = end
            if self.base + end - self.gap_from > self.rules.limits.max_call_length:
                self.settle()
                self.content.text("", self.base + end)
        char = text[end : end + 1]
        if not char:
            return False
        if char == "{" and self.rules.reads_json:
            if end + 1 == len(text) and not self.ended:
                return False
            is_object = end + 1 < len(text) and text[end + 1] in OBJECT_BEGINS
            return self.begin_object(end) if is_object else self.text_follows()
        if end > pos and char in _MAY_GO_ON:
            return True  # a run is bounded: there may be more of it
        if char in "]})>*" and self.content.is_after_call:
            if char == "]" and self.in_list:
                return self._end_list()
            if self._ends_bold() if char == "*" else self._is_surplus(char):
                self.take_markup("**" if char == "*" else char)
                self.line_from = self.base + self.pos
                return True
        match = grammar.others[char](text, end) if char in grammar.others else None
        if match is None and grammar.name is not None and (char.isalpha() or char == "_"):
            match = grammar.name(text, end)
        if match is None:
            return self.text_follows()
        return TAKE[match.lastgroup](self, match)  # type: ignore[index]

    def take_run(self, run: re.Match[str], piece: str) -> None:
        """Hold a run of white space, delimiters and markup."""
        content = self.content
        opened, closed = run["open"], run["close"]
        if content.waiting:
            self.confirm_by(piece, is_closed=closed is not None)
        if not piece.isspace():
            if not self.markup:
                self.note_quotation(self.pos + len(piece) - len(piece.lstrip()))
            self.markup = (self.markup + piece)[-KEPT_MARKUP:]
            if closed is not None:
                self.opened = ""
            if opened is not None and (closed is None or run.start("open") > run.start("close")):
                self.opened = opened
            if self.broken and self.is_for_calls():
                self.broken = ""
        if "\n" in piece and self.quoted in (IN_BLOCKQUOTE, IN_RESULT):
            self.quoted = None  # its line ends
        content.gap(piece)

    def _end_list(self) -> bool:
        """Take the end of a list of pythonic calls."""
        match = LIST_END[self.ended](self.text, self.pos)
        if match is not None and match.lastgroup == "more":
            return False
        self.in_list = False
        if match is None:
            refusal = Refusal(RejectionReason.NOT_A_CALL, "a list that is a part of code")
            self.settle(lambda one: refusal if one.call.format == "pythonic" else None)
            return self.text_follows()
        if self.opened or self.fence:
            self.confirm()
        else:
            self.settle()
        return self.take_markup("]")

    def _is_surplus(self, char: str) -> bool:
        """Return whether a bracket after a call closes nothing, and so goes with the call."""
        if self.fence_is_fresh or is_off("surplus") or not self.content.may_close(char):
            return False
        return char != ">" or self.text[self.pos - 1 : self.pos] in tuple(">})]")

    def _ends_bold(self) -> bool:
        """Return whether `**` stands directly after a call, and so ends the bold that stands around it."""
        return (
            self.base + self.pos == self.line_from and self.text.startswith("**", self.pos) and not self.content.is_bold
        )

    def read_region(self) -> bool:
        """Search quotation for what closes it, and for candidates."""
        region = self.region
        assert region is not None  # noqa: S101  # the state says so
        found = region.search[self.ended](self.text, self.pos)
        at = len(self.text) if found is None else found.start()
        if at > self.pos:
            self.put(at)
        if found is None or found.lastgroup == "more":
            return False
        if found.lastgroup == "object":
            return self.begin_object(at)
        return self.end_region(found.end())


_STEPS: dict[State, Callable[[Machine], bool]] = {
    TEXT: Machine.read_text,
    GAP: Machine.read_gap,
    REGION: Machine.read_region,
    OBJECT: Machine.read_object,
    ARGUMENTS: Machine.read_arguments,
    MENDING: Machine.read_mending,
    CODE: Machine.read_code,
}
"""What each state does."""
