"""The machine: its states, and what it does with what begins in each.

A chunk is appended to the window. Then the step of the state that the turn is in reads on, and may leave it in another
state, until more text is needed:

- TEXT searches for what may begin something: a line on which a tool is named, a brace, markup.
- GAP takes all that may stand before, between and after calls in one match, and looks at what follows: an object or the
  name of a tool begins a candidate; anything else is text, and so is then what was held.
- REGION searches quotation for its end, and for candidates, which are reported.
- The others read a candidate: `candidates` has them.

What is undecided is in one place each: markup and calls that wait in `content`, the open candidate in `candidate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.candidates import BROKEN_OFF, Candidates
from llama3_tools.reader.content import Content, Opening
from llama3_tools.reader.json_calls import WrittenCall
from llama3_tools.reader.markup import LIST_END, OBJECT_BEGINS, search_markup_for_calls
from llama3_tools.reader.quotation import IN_RESULT, IN_THOUGHTS
from llama3_tools.reader.regions import OTHER_TURN, Region, region_of_tag
from llama3_tools.reader.rejections import Rejections
from llama3_tools.reader.rules import Rules
from llama3_tools.reader.switches import is_off
from llama3_tools.reader.turn import ARGUMENTS, CODE, GAP, MENDING, OBJECT, REGION, TEXT, Candidate, Head, State
from llama3_tools.values import Extraction, RejectionReason

__all__ = ["Machine"]

_LETS_CALL_STAND = re.compile(r"(?:[\[\]`~*]|[|\uff5c]>|>>>|functools)\s*\Z").search
_MAY_GO_ON = frozenset(" \t\n\r;,<[*->f")
"""What a run of markup may go on with."""
_LOOK_BEHIND, _MOST_INDENT = 64, 3
_SENTENCE_ENDS = ("", "\n", ".", "!", "?", ":", ";", "…", ">", "}", "`", ")", "]")
"""What code after `<|python_tag|>` may stand after: it does not begin in the middle of a sentence."""
_KEPT_MARKUP = 1024
"""How much of the markup before a candidate anyone looks at."""
_XML = re.compile(r"\s*<[A-Za-z]").match


class Machine(Candidates):
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
        if self.region is not None:
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
        end = run.end()  # type: ignore[union-attr]  # it takes nothing, too
        if end > pos:
            self.take_run(run, text[pos:end])  # type: ignore[arg-type]
            self.pos = end
        char = text[end : end + 1]
        if not char:
            return False
        if char == "{" and self.rules.reads_json:
            if end + 1 == len(text) and not self.ended:
                return False
            is_object = end + 1 < len(text) and text[end + 1] in OBJECT_BEGINS
            return self.begin_object(end) if is_object else self._text_follows()
        if end > pos and char in _MAY_GO_ON:
            return True  # a run is bounded: there may be more of it
        if char in "]})>*" and self.content.is_after_call:
            if char == "]" and self.in_list:
                return self._end_list()
            if self._ends_bold() if char == "*" else self._is_surplus(char):
                return self.take_markup("**" if char == "*" else char)
        match = grammar.others[char](text, end) if char in grammar.others else None
        if match is None and grammar.name is not None and (char.isalpha() or char == "_"):
            match = grammar.name(text, end)
        if match is None:
            return self._text_follows()
        return _TAKE[match.lastgroup](self, match)  # type: ignore[index]

    def take_run(self, run: re.Match[str], piece: str) -> None:
        """Hold a run of white space, delimiters and markup."""
        content = self.content
        opened, closed = run["open"], run["close"]
        if content.waiting:
            self._confirm_by(piece, is_closed=closed is not None)
        if not piece.isspace():
            if not self.markup:
                self._note_quotation(self.pos + len(piece) - len(piece.lstrip()))
            self.markup = (self.markup + piece)[-_KEPT_MARKUP:]
            if closed is not None:
                self.opened = ""
            if opened is not None and (closed is None or run.start("open") > run.start("close")):
                self.opened = opened
            if opened is not None and self.broken and self._is_for_calls():
                self.broken = ""
        content.gap(piece)

    def take_markup(self, markup: str) -> bool:
        """Hold one piece of markup."""
        if self.content.waiting:
            self._confirm_by(markup, is_closed=False)
        self.content.gap(markup)
        self.markup = (self.markup + markup)[-_KEPT_MARKUP:]
        self.pos += len(markup)
        return True

    def _confirm_by(self, piece: str, *, is_closed: bool) -> None:
        """Deal with calls that wait, if more than a comma follows them: the end of the line, a delimiter, markup.

        In a list, a comma is enough.
        """
        if self.in_list:
            if piece.strip(" \t"):
                self.confirm()
        elif not piece.strip(" \t,"):
            return
        elif is_closed or not (self.opened or self.fence):
            self.settle()
        else:
            self.confirm()

    def _text_follows(self) -> bool:
        """Turn to text: what is held is text, too, and calls that wait are dealt with."""
        is_listing = self.settle_before_text()
        self.in_list, self.opened = False, ""
        if self.markup and self._is_code_due():
            return self._begin_code()
        if is_listing or self.fence_is_fresh:
            return self._quote_fence()
        self.markup = ""
        self.state, self.searched = TEXT, self.pos + 1
        return True

    def _end_list(self) -> bool:
        """Take the end of a list of pythonic calls."""
        match = LIST_END[self.ended](self.text, self.pos)
        if match is not None and match.lastgroup == "more":
            return False
        self.in_list = False
        if match is None:
            refusal = Refusal(RejectionReason.NOT_A_CALL, "a list that is a part of code")
            self.settle(lambda one: refusal if one.call.format == "pythonic" else None)
            return self._text_follows()
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

    def need_more(self, _: re.Match[str]) -> bool:
        """Wait for text: it takes more to know what begins."""
        return False

    def take_function(self, match: re.Match[str]) -> bool:
        """Take a tag that names its tool: what follows is its arguments."""
        at, end = match.span()
        text, name, inside = self.text, match["tool"], match["inside"]
        declared = self.rules.declared
        if name not in declared and name.rstrip(":.-/") in declared:
            name = name.rstrip(":.-/")
        is_correct = match[0] in (f"<function={name}>", f'<function name="{name}">')
        if not self.markup:
            self._note_quotation(at)
        if inside == "{" and (is_correct or declared):
            brace = text.index("{", end)
            begin, stop = match.span("tool")
            deviations = () if is_correct else (f"the tag is written {text[at:begin]}NAME{text[stop:end]}{{…}}",)
            head = Head(name, "function", self.base + at, deviations)
            self.markup += match[0]
            self.pos = brace
            return self.begin_object(brace, head)
        if inside == "</function>" and is_correct and name in declared and not declared[name].requires_arguments:
            self.pos = text.index(inside, end)
            candidate = Candidate(self.base + at, self.base + at, "function", None)
            candidate.quoted = self.quoted
            return self._decide(candidate, WrittenCall(name, {}, "{}"), text[at : self.pos])
        stands_alone = self._stands_alone(at)
        is_xml = inside == "<" and _XML(text, end) is not None
        is_meant = name in declared or (self.rules.tools is None and is_correct and (stands_alone or is_xml))
        is_named = is_meant and self.quoted is None
        if is_named:
            refusal = Refusal(RejectionReason.MALFORMED, "expected an object in the tag", name)
            self.rejections.add(self.base + at, self.base + end, refusal, is_meant=True)
            self.fence_is_fresh = False
        self._as_text(end)
        if is_named and (stands_alone or is_xml):
            self.begin_region(region_of_tag("function", "in a tag that names its tool"))
        return True

    def take_fence(self, match: re.Match[str]) -> bool:
        """Take a fence: it opens, or closes."""
        ticks, rest = match["ticks"], match["info"] + match["rest"].strip()
        if self.fence:
            if rest or not ticks.startswith(self.fence):
                return self._as_text(match.end())
            is_empty, self.fence, self.fence_is_fresh = self.fence_is_fresh, "", False
            if is_empty:
                return self._as_text(match.end())
            self.settle()
            return self.take_markup(match[0])
        stands_alone = self._stands_alone(match.start())
        if not self.markup:
            self._note_quotation(match.start())
        if not stands_alone or self.quoted is not None:
            return self._as_text(match.end("ticks"))
        self.settle()
        self.fence, self.fence_is_fresh = ticks, True
        return self.take_markup(Opening(match[0]))

    def take_turn(self, match: re.Match[str]) -> bool:
        """Take the header of another's turn."""
        self.settle()
        self.take_markup(match[0])
        return is_off("regions") or self.begin_region(OTHER_TURN)

    def take_thought(self, match: re.Match[str]) -> bool:
        """Take the beginning of reasoning."""
        region = region_of_tag(match["thinks"], IN_THOUGHTS)
        return self._take_quotation(match, region._replace(is_split=self.rules.options.split_reasoning))

    def take_response(self, match: re.Match[str]) -> bool:
        """Take the beginning of a tool's result."""
        return self._take_quotation(match, region_of_tag(match["answers"], IN_RESULT))

    def _take_quotation(self, match: re.Match[str], region: Region) -> bool:
        """Take a tag that opens quotation: text, but for that of reasoning that is split off."""
        self.settle()
        if is_off("regions") or self.why_quoted(match.start()) is not None:
            return self._as_text(match.end())
        self.in_list, self.opened, self.fence_is_fresh = False, "", False
        self.begin_region(region)
        if region.is_split:
            self.pos = match.end()
        else:
            self.put(match.end())
        return True

    def take_call(self, match: re.Match[str]) -> bool:
        """Take the name and the parenthesis of a pythonic call."""
        name = match["name"]
        if self.markup.rstrip().endswith("["):
            if not self.content.is_after_call and self.is_argument(match.start()):
                return self._text_follows()
            self.in_list = True
        is_known = self.tool_of(name) or self.in_list or (self._is_for_calls() and not self._is_code_due())
        if not is_known or not self._may_stand():
            return self._text_follows()
        return self.begin_call(match.start(), match.end() - 1, name)

    def take_head(self, match: re.Match[str]) -> bool:
        """Take the name of a declared tool, after which the object of its arguments stands."""
        name = (match["listed"] if match.lastgroup == "bracketed" else match["name"]).rstrip(":.-/")
        is_known = name in (self.rules.names or ()) or (self.rules.names is not None and self._is_for_calls())
        if not is_known or not self._may_stand() or is_off("heads"):
            return self._text_follows()
        if not self.markup:
            self._note_quotation(match.start())
        if "```" in match[0]:
            self.fence = "```"
        self.markup += match[0]
        self.pos = match.end()
        head = Head(name, "name", self.base + match.start(), ("the name stands before the arguments",))
        return self.begin_object(self.pos, head)

    def take_name(self, match: re.Match[str]) -> bool:
        """Wait for the rest of a name, if a declared one begins so."""
        begun = match["begun"].rstrip(":.-/") or match["begun"]
        may_begin = self.in_list or self._is_for_calls() or self.rules.may_begin_name(begun)
        return not may_begin and self._text_follows()

    def _is_for_calls(self) -> bool:
        """Return whether there is markup here whose only use is calls."""
        return search_markup_for_calls(self.markup) is not None

    def _may_stand(self) -> bool:
        """Return whether a pythonic call may stand here: where a line begins, or after some markup or another call."""
        if self.broken and not is_off("broken lines"):
            return False
        if self.content.is_after_call or self.in_list or self._is_for_calls() or _LETS_CALL_STAND(self.markup):
            return True
        before = self.text[max(self.pos - _LOOK_BEHIND, 0) : self.pos]
        line = before[before.rfind("\n") + 1 :]
        begins_line = len(line) < len(before) or self.base + self.pos == len(before)
        return begins_line and len(line) <= _MOST_INDENT and not line.strip(" ")

    def _stands_alone(self, at: int) -> bool:
        """Return whether nothing but markup, or the marker of a list, stands on the line before an index."""
        if self.content.is_after_call or self.markup:
            return True
        self.line.read(self.text, self.base, at, self.line_from)
        return self.line.is_blank

    def _note_quotation(self, at: int) -> None:
        """Decide whether the markup that begins at an index is quoted."""
        self.quoted = None if self.content.is_after_call else self.why_quoted(at)
        if self.rules.reads_code:
            before = self.text[max(at - _LOOK_BEHIND, 0) : at].rstrip(" \t")
            self.may_be_code = before[-1:] in _SENTENCE_ENDS

    def _as_text(self, end: int) -> bool:
        """Take what looked like something as text."""
        is_listing = self.settle_before_text()
        self.in_list, self.opened, self.markup = False, "", ""
        self.put(end)
        self.state, self.searched = TEXT, end
        if is_listing or self.fence_is_fresh:
            return self._quote_fence()
        return True


_TAKE: dict[str, Callable[[Machine, re.Match[str]], bool]] = {
    "function": Machine.take_function,
    "thought": Machine.take_thought,
    "response": Machine.take_response,
    "turn": Machine.take_turn,
    "fence": Machine.take_fence,
    "call": Machine.take_call,
    "head": Machine.take_head,
    "bracketed": Machine.take_head,
    "begins": Machine.take_name,
    **dict.fromkeys(("more", "more_header", "more_im", "more_tag", "more_function", "more_arrows"), Machine.need_more),
}
"""What the machine does with what begins, by the last group of the pattern that matched."""

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
