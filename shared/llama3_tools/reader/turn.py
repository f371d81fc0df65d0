"""One turn: its parts, and what happens to text, markup and candidates.

Each part owns what it changes, and its methods tell it what happened. This module has what concerns several parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum

from llama3_tools.limits import too_many
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.attempts import Evidence, Shape, open_tool_markup
from llama3_tools.reader.candidates import NO_CODE, Candidate, Candidates, CodeReader, Outcome, Reader
from llama3_tools.reader.code import CODE_INTERPRETER
from llama3_tools.reader.content import CALL, Content, Waiting
from llama3_tools.reader.held_markup import HeldMarkup
from llama3_tools.reader.json_calls import LONGEST_LOOK, WrittenCall, has_call_keys, is_like_call
from llama3_tools.reader.quotation import IN_FENCE, IN_STRING, IN_THOUGHTS, Quotation
from llama3_tools.reader.regions import Region, region_of_fence, region_of_tag
from llama3_tools.reader.rejections import Rejections, attempted_name
from llama3_tools.reader.rules import Part, Rules, name_in
from llama3_tools.reader.surroundings import PART, Surroundings
from llama3_tools.reader.window import KEPT, Window
from llama3_tools.values import ReasoningDelta, RejectionReason


class State(Enum):
    """Where reading is."""

    TEXT = "in text: searches for what may begin something"
    GAP = "where a call may be: reads markup and white space"
    REGION = "in quotation: reports the candidates in it"
    CANDIDATE = "in what may be a call"

    __hash__ = object.__hash__  # each state is one object: Enum's own hash takes a call in Python


# As separate names: a member of an enum takes ten times as long to look up.
TEXT, GAP, REGION, CANDIDATE = State

BROKEN_OFF = Refusal(RejectionReason.TRUNCATED, "the stream broke off before it was certain to be a call")

_PARAMETER = r"\*{0,2}[^\W\d]\w*(?:\s*:\s*[\w.]+(?:\[[^\]]*\])?(?:\s*=\s*[^,()]*)?)?"
_SIGNATURE = re.compile(rf"[^(]*\(\s*(?:{_PARAMETER}(?:\s*,\s*{_PARAMETER})*)?\s*\)").fullmatch
"""A pythonic call as prose has it: `search(query)`."""
_BARE_WORD = re.compile(r"[^(]*\(\s*(?!(?i:none|null|true|false)\b)[^\W\d]\w*(?!\w|\s*[=:])").match
"""One whose first argument is a word: an expression of code, or prose."""
_BY_NAME = re.compile(r"[(,]\s*[^\W\d]\w*\s*=(?!=)").search
_NAMES_ARGUMENT = re.compile(r"[^(]*\(\s*(?:\w+\s*=|\{)").match
"""A pythonic call that was meant, so that a blank line is one of its string. `search(the web` may be prose."""
_PART = "a part of data, of code, or of a malformed object"
_LISTING = "in a listing of code"
_LONGEST_INDENT = 256
_LOOK_AHEAD = 8
"""How far the parts read beyond what leaves the window: quotes and escapes are read with what follows them."""


class Turn:
    """The parts of one turn, and the actions on several of them. Methods return the next state."""

    def __init__(self, rules: Rules, *, keep_content: bool) -> None:
        self.rules = rules
        self.window = window = Window()
        self.around = Surroundings(window)
        self.content = Content(is_kept=keep_content)
        self.quotation = Quotation(window, rules.declared)
        self.markup = HeldMarkup(window, self.around, self.quotation, self.content, rules.names)
        self.rejections = Rejections(window, self.quotation, rules.names, rules.limits.max_rejections)
        self.candidates = Candidates(rules, window, self.content)
        self.candidate: Candidate | None = None
        self.grammar = rules.grammars[0]
        """What is looked for, in text that may go on or has ended."""
        self.state = GAP
        if rules.options.starts_reasoning:
            thoughts = region_of_tag("think", IN_THOUGHTS)
            self.state = self.quote(thoughts._replace(is_split=rules.options.split_reasoning))

    # Text.

    def forget(self) -> None:
        """Drop text from the window that was read and that no part needs."""
        window, candidate = self.window, self.candidate
        cut = window.pos - KEPT
        needed_from = None if candidate is None else candidate.begin
        read_to = cut + _LOOK_AHEAD if needed_from is None else min(needed_from - window.base, cut)
        if read_to > 0:
            self.quotation.read_line(read_to)
            if self.quotation.region is None:
                self.around.read(read_to)
        self.rejections.read_on(cut)
        window.forget(cut, needed_from)

    def put(self, end: int, *, is_words: bool = True) -> None:
        """Add text up to an index to the content, as the model's words or as something else."""
        window, rejections, region = self.window, self.rejections, self.quotation.region
        piece, offset = window.text[window.pos : end], window.base + end
        window.pos = end
        if region is not None and region.is_split:
            self.content.thought(piece, offset)
            return
        self.content.text(piece, offset)
        if is_words and rejections.words_from < 0 and (region is None or region.why is not IN_THOUGHTS):
            rejections.note_words(piece, offset - len(piece))
        rejections.look_over(end)

    def text_follows(self) -> State:
        """End the gap: held markup becomes text, and waiting calls are decided."""
        is_listing = self.settle_before_text()
        if self.markup.text:
            if self.is_code_due:
                return self.begin_code()
            self._report_tag()
        self.markup.clear()
        if is_listing or self.quotation.fence_is_fresh:
            return self.quote_fence()
        self.window.searched = self.window.base + self.window.pos + 1  # what is here begins nothing
        return TEXT

    def put_as_text(self, end: int) -> State:
        """Add what looked like markup or a call, up to an index, as text."""
        is_listing = self.settle_before_text()
        self.markup.clear()
        self.put(end)
        return self.quote_fence() if is_listing or self.quotation.fence_is_fresh else TEXT

    # What is held.

    def hold(self, piece: str, *, opens: bool = False) -> State:
        """Hold one piece of markup."""
        if self.content.waiting:
            self.decide_waiting(piece, is_closed=False)
        self.content.hold(piece, opens=opens)
        self.markup.add(piece, self.window.pos)
        self.window.pos += len(piece)
        return GAP

    def hold_run(self, run: re.Match[str]) -> None:
        """Hold a run of markup, delimiters and white space, unless too much is held."""
        piece, window, content = run[0], self.window, self.content
        if content.waiting:
            self.decide_waiting(piece, is_closed=run["close"] is not None)
        self.markup.add_run(run, piece, window.pos)
        content.hold(piece)
        window.pos = run.end()
        end = window.base + window.pos
        if end - content.held_from > self.candidates.most:
            self.settle()
            content.text("", end)

    def decide_waiting(self, piece: str, *, is_closed: bool) -> None:
        """Decide on waiting calls if more than a comma follows them: the end of the line, a delimiter, markup.

        In a list, a comma is enough.
        """
        if self.markup.in_list:
            if piece.strip(" \t"):
                self.content.confirm()
        elif not piece.strip(" \t,"):
            return
        elif is_closed or not (self.markup.opened or self.quotation.fence):
            self.settle()
        else:
            self.content.confirm()

    def settle(self, refuse: Callable[[Waiting], Refusal | None] | None = None) -> None:
        """Make the waiting calls, except those that are refused."""
        if not self.content.waiting:
            return

        def stays_text(waiting: Waiting) -> bool:
            refusal = refuse(waiting) if refuse else None
            if refusal is None:
                return False
            self.rejections.add(*waiting.call.span, refusal._replace(name=waiting.call.name), waiting.evidence)
            return True

        self.content.settle(stays_text)

    def settle_before_text(self) -> bool:
        """Decide on the waiting calls, as text follows; return whether they were a listing in a fence."""
        waiting = self.content.waiting
        if not waiting:
            return False
        is_listing = bool(self.quotation.fence) and any(one.call.format == "pythonic" for one in waiting)
        if is_listing:
            refusal = Refusal(RejectionReason.QUOTED, _LISTING)
            self.settle(lambda one: refusal if one.call.format == "pythonic" else None)
        else:
            refusal = Refusal(RejectionReason.NOT_A_CALL, "a call in a sentence, pythonic or without arguments")
            self.settle(lambda one: None if one.is_sure else refusal)
        return is_listing

    # Quotation.

    def quote_fence(self) -> State:
        """Begin quotation in the fence that is open: neither a call nor an attempt comes first in it."""
        region = region_of_fence(self.quotation.fence, IN_FENCE)
        self.quotation.close_fence()
        return self.quote(region)

    def quote(self, region: Region) -> State:
        """Begin quotation at the place up to which the window was read."""
        self.around.read(self.window.pos)
        self.quotation.begin(region)
        offset = self.window.base + self.window.pos
        self.markup.clear()
        if region.is_split:
            self.content.begin_thought(offset)
        self.content.begin_quotation(offset)
        return REGION

    def end_region(self, end: int) -> State:
        """End quotation. Its end is text, unless it is the tag of reasoning that is split off."""
        region = self.quotation.region
        if region is not None and region.is_split:
            self.window.pos = end
        else:
            self.put(end)
        offset = self.window.base + end
        self.around.skip(end)
        self.quotation.end(offset)
        self.content.end_quotation(offset)
        return GAP

    # Calls.

    @property
    def has_enough(self) -> bool:
        """Whether the turn has as many calls as it may have."""
        return len(self.content.calls) + len(self.content.waiting) >= self.rules.limits.max_calls

    def decide(self, candidate: Candidate, outcome: Outcome) -> State:
        """Decide whether a candidate that was read to its end, or broke, is a call or text."""
        found, window = outcome.found, self.window
        if not outcome.is_whole:
            assert isinstance(found, Refusal)  # noqa: S101  # it broke
            return self._give_up(candidate, found, outcome.end)
        raw = outcome.raw or window.written(candidate.begin, outcome.end)
        if not isinstance(found, Refusal):
            if candidate.quoted is not None:
                found = Refusal(RejectionReason.QUOTED, candidate.quoted, name_in(found))
            elif candidate.is_part:
                found = Refusal(RejectionReason.NOT_A_CALL, _PART, name_in(found))
            elif window.is_aborted:
                found = BROKEN_OFF._replace(name=name_in(found))
            elif isinstance(found, WrittenCall) and self.has_enough:
                found = Refusal(*too_many(self.rules.limits), found.name)
        if isinstance(found, Refusal):
            window.go_back(candidate.begin)
            return self._refuse(candidate, found, raw, is_whole=True)
        window.pos = outcome.end - window.base
        start, end = candidate.begin, candidate.begin + len(raw)
        if isinstance(found, WrittenCall):
            return self.call(found, start, end, candidate.format, raw, outcome.mended)
        return self._unpack(found, start, end, outcome.mended)

    def call(  # noqa: PLR0913, PLR0917 (what is known of it)
        self, written: WrittenCall, start: int, end: int, format_: str, raw: str, mended: str | None = None
    ) -> State:
        """Make a call, or let it wait. The window is read up to its end."""
        content, opened = self.content, self.markup.opened
        if format_ == "json":
            format_ = "fence" if self.quotation.fence else opened or "json"
        call = self.rules.make(written, (start, end), format_, mended)
        is_sure = format_ != "pythonic"
        if format_ == "json" and not (written.arguments or written.deviations or has_call_keys(raw)):
            # `I ran {"name": "clock"} today.`
            is_sure = not Evidence(Shape.OBJECT, self.markup.line_before(start - self.window.base)).is_run_into
        if content.waiting or not is_sure or ((opened or format_ == "function") and not self.window.ended):
            evidence = self._evidence_of_waiting(written.name, start, is_pythonic=format_ == "pythonic")
            content.wait(Waiting(call, raw, is_sure, evidence))
        else:
            content.call(call)
        return self._end_call(end)

    def _unpack(self, found: Sequence[Part], start: int, end: int, mended: str | None) -> State:
        """Add the calls, the message and the thought of an envelope, in their order."""
        content = self.content
        self.settle()
        content.take_out(end)
        for part in found:
            if isinstance(part, str):
                content.message(part)
                continue
            if isinstance(part, ReasoningDelta):
                content.envelope_thought(part.text)
                continue
            span = (start, end) if mended else (start + part.start, start + part.end)
            if self.has_enough:
                self.rejections.add(*span, Refusal(*too_many(self.rules.limits), part.written.name))
            else:
                content.call(self.rules.make(part.written, span, "envelope", mended))
        return self._end_call(end)

    def _end_call(self, end: int) -> State:
        self.candidate = None
        self.around.end_call(end)
        self.markup.end_call()
        self.quotation.end_call(end)
        return GAP

    # Refusals.

    def _give_up(self, candidate: Candidate, refusal: Refusal, end: int) -> State:
        """Refuse a candidate that broke at an offset, or is cut off."""
        window = self.window
        window.go_back(candidate.begin)
        if refusal.reason is RejectionReason.TRUNCATED:
            end = window.base + len(window.text)
            refusal = BROKEN_OFF if window.is_aborted else refusal
        raw = window.text[window.pos : end - window.base]
        refusal = refusal._replace(name=refusal.name or candidate.name or attempted_name(raw))
        return self._refuse(candidate, refusal, raw, is_whole=False)

    def _refuse(self, candidate: Candidate, refusal: Refusal, raw: str, *, is_whole: bool) -> State:
        """Refuse a candidate: it is text, and the search goes on after it. The window was read up to its beginning.

        If it broke, `raw` ends where it did.
        """
        self.candidate = None
        if refusal is NO_CODE:
            self.markup.clear()
            self.put(self.window.pos + len(raw))
            return TEXT
        is_json = candidate.format == "json"
        if is_json and not has_call_keys(raw) and self.is_code_due:
            return self.begin_code()
        is_meant = self._has_call_shape(candidate, refusal, raw)
        evidence = self._evidence(candidate, refusal, raw, is_whole=is_whole)
        # An object that is not a call may be anyone's: `{"name": "Al", oops}` names no tool.
        if is_json and not is_meant and (refusal.reason is RejectionReason.MALFORMED or not is_whole):
            refusal = refusal._replace(name=None)
        if candidate.quoted is not None:
            refusal = Refusal(RejectionReason.QUOTED, candidate.quoted, refusal.name)
        # Quotation is full of objects; one that names no tool says nothing.
        if self.quotation.region is None or refusal.name or is_meant:
            self.rejections.add(candidate.begin, candidate.begin + len(raw), refusal, evidence)
        if not is_whole:
            self.rejections.note_broken(candidate.begin)
        if self.quotation.region is not None:
            self.put(self.window.pos + len(raw))
            return REGION
        self.around.read(self.window.pos)
        if is_whole:
            self.around.skip_object(self.window.pos + len(raw), is_meant=is_meant)
        elif has_call_keys(raw) or (is_meant and (candidate.format != "pythonic" or _NAMES_ARGUMENT(raw))):
            self.around.mean(candidate.start, is_argument=candidate.is_after_name)
        return self._put_refused(candidate, raw, is_quoted=candidate.quoted is not None, is_meant=is_meant)

    def _put_refused(self, candidate: Candidate, raw: str, *, is_quoted: bool, is_meant: bool) -> State:
        """Add a refused candidate to the content. The window was read up to its beginning."""
        begins_region = self.settle_before_text() or (self.quotation.fence_is_fresh and not is_meant)
        self.quotation.begin_fence_with_attempt()
        self.markup.clear(keep_list=True)  # `[f(oops), g()]`: the list goes on
        self.put(self.window.pos + len(raw), is_words=not is_quoted)
        if candidate.quoted is IN_STRING and raw[-1:] in ("}", ")"):  # all of it: `"{…}, {…}"`
            self.quotation.end_string(candidate.begin + len(raw))
        if begins_region:
            return self.quote_fence()
        return GAP if self.markup.in_list else TEXT

    def _has_call_shape(self, candidate: Candidate, refusal: Refusal, raw: str) -> bool:
        """Return whether a candidate has the shape of a call: then it is not data, and its fence is not quotation."""
        if candidate.is_part:
            return False
        if candidate.format == "pythonic":
            is_call = self.markup.in_list or refusal.reason is RejectionReason.MISSING_ARGUMENTS or not _SIGNATURE(raw)
        else:
            is_call = candidate.format != "json" or has_call_keys(raw) or refusal.name in self.rules.declared
        return is_call or self.markup.is_for_calls

    def _evidence(self, candidate: Candidate, refusal: Refusal, raw: str, *, is_whole: bool) -> Evidence:
        """Return what is known of a candidate that is refused. The window is at its beginning."""
        markup, is_named = self.markup, refusal.name in self.rules.declared
        found = Evidence(
            Shape.NAMED if is_named else Shape.OTHER, markup.line_before(self.window.pos), raw[:LONGEST_LOOK]
        )
        found.is_whole, found.is_part, found.in_list = is_whole, candidate.is_part, markup.in_list
        found.in_markup = candidate.format in ("function", "code") or self._is_in_tool_markup
        found.closes_with_output = markup.has_python_tag
        if is_named:
            found.parameters = self.rules.declared[refusal.name or ""].parameters.get("properties") or ()
        if candidate.format == "json":
            tool = self.rules.declared.get(refusal.name or attempted_name(raw) or "")
            if is_like_call(raw, tool):
                found.shape = Shape.OBJECT
            elif refusal.reason is RejectionReason.MISSING_ARGUMENTS:
                found.shape = Shape.OTHER  # a record that has a tool's name
        elif candidate.format == "pythonic" and not is_named:
            is_listed = markup.in_list and (_BY_NAME(raw) or self.rejections.is_before_words(candidate.begin))
            is_expression = refusal.reason is RejectionReason.MALFORMED and _SIGNATURE(raw)  # `[sin(t), cos(t)]`
            found.shape = Shape.LISTED if is_listed and not is_expression else Shape.OTHER
        elif candidate.format == "pythonic" and not markup.in_list and _SIGNATURE(raw):
            found.shape = Shape.NAMED if refusal.reason is RejectionReason.MISSING_ARGUMENTS else Shape.OTHER
        elif candidate.format == "pythonic" and not markup.in_list and refusal.reason is RejectionReason.MALFORMED:
            found.shape = Shape.OTHER if _BARE_WORD(raw) else found.shape
        return found

    def _evidence_of_waiting(self, name: str, start: int, *, is_pythonic: bool) -> Evidence:
        """Return what is known of a complete call that waits. The window is at its end."""
        is_named = name in self.rules.declared
        shape = Shape.OBJECT if not is_pythonic else Shape.NAMED if is_named else Shape.OTHER
        found = Evidence(shape, self.markup.line_before(max(start - self.window.base, 0)))
        found.in_list, found.in_markup = self.markup.in_list, is_pythonic and self._is_in_tool_markup
        found.closes_with_output = self.markup.has_python_tag
        return found

    @property
    def _is_in_tool_markup(self) -> bool:
        """Whether what is read is in markup whose name says tool, func or call."""
        opened = self.markup.opened
        return bool((opened and open_tool_markup(f"<{opened}>")) or open_tool_markup(self.markup.text))

    def _report_tag(self) -> None:
        """Report markup whose name says tool, func or call, if it has something else in it."""
        markup, window = self.markup, self.window
        tag = open_tool_markup(markup.text)
        if not tag or markup.quoted is not None or markup.place is PART or self.quotation.region is not None:
            return
        at = window.base + max(window.text.rfind(tag, 0, window.pos), 0)
        refusal = Refusal(RejectionReason.NOT_A_CALL, f"{tag} with anything but a call in it")
        found = Evidence(Shape.TAG, "" if self.content.last is CALL else markup.before, in_markup=True)
        found.closes_with_output = "python_tag" in tag
        self.rejections.add(at, at + len(tag), refusal, found)

    # Candidates.

    def begin_code(self) -> State:
        """Begin code at the place up to which the window is read."""
        self.settle()
        window = self.window
        line = window.text[max(window.pos - _LONGEST_INDENT, 0) : window.pos].rpartition("\n")
        indent = line[2] if line[1] and line[2].isspace() else ""
        at = window.base + window.pos
        reader = CodeReader(self.candidates, indent, is_fenced="`" in self.markup.text)
        self.candidate = Candidate(at, at, "code", CODE_INTERPRETER, reader=reader)
        self.quotation.close_fence()
        self.markup.clear()
        return CANDIDATE

    def begin(self, candidate: Candidate, reader: Reader) -> State | None:
        """Begin to read a candidate, whose brace or parenthesis is in the window."""
        self.window.pos = candidate.start - self.window.base
        if self.content.last is not CALL or self.quotation.region is not None:
            at = max(candidate.begin - self.window.base, 0)
            candidate.quoted = self.markup.why_quoted(at)
            if candidate.quoted is None and candidate.format != "pythonic":
                candidate.is_part = self.markup.place_of(at) is PART
        self.candidate, candidate.reader = candidate, reader
        outcome = reader.read(candidate)
        return CANDIDATE if outcome is None else self.decide(candidate, outcome)

    @property
    def is_code_due(self) -> bool:
        """Whether what follows is code, as `<|python_tag|>` comes before it."""
        markup = self.markup
        may_be_code = self.rules.reads_code and markup.may_be_code and markup.has_python_tag
        return may_be_code and markup.quoted is None and self.quotation.region is None
