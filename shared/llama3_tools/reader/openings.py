"""What begins where a call may stand and is no object: names, fences, tags that name a tool or open quotation."""

from __future__ import annotations

import re
from collections.abc import Callable

from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.candidates import Candidates
from llama3_tools.reader.content import Opening
from llama3_tools.reader.json_calls import WrittenCall
from llama3_tools.reader.markup import search_markup_for_calls
from llama3_tools.reader.quotation import IN_RESULT, IN_THOUGHTS
from llama3_tools.reader.regions import IN_TAG, IN_TAG_OF_LINE, OTHER_TURN, Region, region_of_tag
from llama3_tools.reader.switches import is_off
from llama3_tools.reader.turn import TEXT, Candidate, Head
from llama3_tools.values import RejectionReason

__all__ = ["KEPT_MARKUP", "TAKE", "Openings"]

_LETS_CALL_STAND = re.compile(r"(?:[\[\]`~]|[|\uff5c]>|>>>|functools)\s*\Z").search
_XML = re.compile(r"\s*<[A-Za-z]").match
KEPT_MARKUP = 1024
"""How much of the markup before a candidate anyone looks at."""
_LOOK_BEHIND, _MOST_INDENT = 64, 3
_SENTENCE_ENDS = ("", "\n", ".", "!", "?", ":", ";", "…", ">", "}", "`", ")", "]", "。", "！", "？")  # noqa: RUF001
"""What code after `<|python_tag|>` may stand after: it does not begin in the middle of a sentence."""


class Openings(Candidates):
    """Takes what begins."""

    __slots__ = ()

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
            self.note_quotation(at)
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
            return self.decide(candidate, WrittenCall(name, {}, "{}"), text[at : self.pos])
        stands_alone = self._stands_alone(at)
        is_xml = inside == "<" and _XML(text, end) is not None
        is_meant = name in declared or (is_correct and (stands_alone or is_xml))
        is_named = is_meant and self.quoted is None
        if is_named:
            refusal = Refusal(RejectionReason.MALFORMED, "expected an object in the tag", name)
            self.rejections.add(self.base + at, self.base + end, refusal, is_meant=True)
            self.fence_is_fresh = False
        self._as_text(end)
        if is_named or (is_correct and self.quoted is None):
            self.begin_region(IN_TAG if stands_alone or is_xml else IN_TAG_OF_LINE)
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
            self.note_quotation(match.start())
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
                return self.text_follows()
            self.in_list = True
        is_known = self.tool_of(name) or self.in_list or self._is_tried_as_call()
        if not is_known or not self._may_stand():
            return self.text_follows()
        return self.begin_call(match.start(), match.end() - 1, name)

    def take_head(self, match: re.Match[str]) -> bool:
        """Take the name of a declared tool, after which the object of its arguments stands."""
        name = (match["listed"] if match.lastgroup == "bracketed" else match["name"]).rstrip(":.-/")
        is_known = name in self.rules.names or self._is_tried_as_call()
        if not is_known or not self._may_stand() or is_off("heads"):
            return self.text_follows()
        if not self.markup:
            self.note_quotation(match.start())
        if "```" in match[0]:
            self.fence = "```"
        self.markup += match[0]
        self.pos = match.end()
        head = Head(name, "name", self.base + match.start(), ("the name stands before the arguments",))
        return self.begin_object(self.pos, head)

    def _is_tried_as_call(self) -> bool:
        """Return whether whatever is named here is meant as a call, declared or not."""
        return self.is_for_calls() and not self.is_code_due()

    def take_name(self, match: re.Match[str]) -> bool:
        """Wait for the rest of a name, if a declared one begins so."""
        begun = match["begun"].rstrip(":.-/") or match["begun"]
        may_begin = self.in_list or self.is_for_calls() or self.rules.may_begin_name(begun)
        return not may_begin and self.text_follows()

    def take_markup(self, markup: str) -> bool:
        """Hold one piece of markup."""
        if self.content.waiting:
            self.confirm_by(markup, is_closed=False)
        self.content.gap(markup)
        self.markup = (self.markup + markup)[-KEPT_MARKUP:]
        self.pos += len(markup)
        return True

    def confirm_by(self, piece: str, *, is_closed: bool) -> None:
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

    def text_follows(self) -> bool:
        """Turn to text: what is held is text, too, and calls that wait are dealt with."""
        is_listing = self.settle_before_text()
        self.in_list, self.opened = False, ""
        if self.markup and self.is_code_due():
            return self.begin_code()
        if is_listing or self.fence_is_fresh:
            return self.quote_fence()
        self.markup = ""
        self.state, self.searched = TEXT, self.pos + 1
        return True

    def _as_text(self, end: int) -> bool:
        """Take what looked like something as text."""
        is_listing = self.settle_before_text()
        self.in_list, self.opened, self.markup = False, "", ""
        self.put(end)
        self.state, self.searched = TEXT, end
        if is_listing or self.fence_is_fresh:
            return self.quote_fence()
        return True

    def is_for_calls(self) -> bool:
        """Return whether there is markup here whose only use is calls."""
        return search_markup_for_calls(self.markup) is not None

    def _may_stand(self) -> bool:
        """Return whether a pythonic call may stand here: where a line begins, or after some markup or another call."""
        if self.broken and not is_off("broken lines"):
            return False
        if self.content.is_after_call or self.in_list or self.is_for_calls() or _LETS_CALL_STAND(self.markup):
            return True
        before = self.text[max(self.pos - _LOOK_BEHIND, 0) : self.pos]
        line = before[before.rfind("\n") + 1 :]
        begins_line = len(line) < len(before) or self.base + self.pos == len(before)
        is_first = begins_line and len(line.strip("*")) <= _MOST_INDENT and not line.strip(" *")
        return is_first and not self.is_argument(self.pos)

    def _stands_alone(self, at: int) -> bool:
        """Return whether nothing but markup, or the marker of a list, stands on the line before an index."""
        if self.content.is_after_call or self.markup:
            return True
        self.line.read(self.text, self.base, at, self.line_from)
        return self.line.is_blank

    def note_quotation(self, at: int) -> None:
        """Decide whether the markup that begins at an index is quoted, or a part of something."""
        is_after_call = self.content.is_after_call
        self.quoted = None if is_after_call else self.why_quoted(at)
        begins_line = self.text[max(at - _LOOK_BEHIND, 0) : at].rstrip(" \t").endswith("\n")
        self.is_inside = not (is_after_call or begins_line or is_off("parts")) and self.stands_inside(at)
        if self.rules.reads_code:
            before = self.text[max(at - _LOOK_BEHIND, 0) : at].rstrip(" \t")
            self.may_be_code = self.content.is_after_call or before[-1:] in _SENTENCE_ENDS


TAKE: dict[str, Callable[[Openings, re.Match[str]], bool]] = {
    "function": Openings.take_function,
    "thought": Openings.take_thought,
    "response": Openings.take_response,
    "turn": Openings.take_turn,
    "fence": Openings.take_fence,
    "call": Openings.take_call,
    "head": Openings.take_head,
    "bracketed": Openings.take_head,
    "begins": Openings.take_name,
    **dict.fromkeys(("more", "more_header", "more_im", "more_tag", "more_function", "more_arrows"), Openings.need_more),
}
"""What is done with what begins, by the last group of the pattern that matched."""
