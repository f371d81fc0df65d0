/** The output with its places marked, and below it what each place is and why. */

import { element, grouped, Parts } from "./dom.js";

/**
 * @typedef {{kind: string, text: string}} Segment
 * @typedef {object} Explanation
 * @property {string} kind What the place is.
 * @property {string} place Its line and column.
 * @property {number} segment The index of the segment in which it begins.
 * @property {string} subject The call, the reason, or what was removed.
 * @property {string} detail
 * @property {string[]} notes
 */

const MOST_CHARACTERS = 30_000;
const MOST_SEGMENTS = 1_000;
const MOST_EXPLANATIONS = 200;

/**
 * Show the segments of an output and the explanations, each of which leads to the other.
 *
 * @param {HTMLElement} output For the segments.
 * @param {HTMLElement} list For the explanations.
 * @param {Segment[]} segments
 * @param {Explanation[]} explanations
 */
export function showMarked(output, list, segments, explanations) {
  const explained = new Map(explanations.map((one, at) => [one.segment, at]));
  const parts = inParts(segments);
  const partOf = new Map(parts.flatMap((part, at) => part.map(({ index }) => [index, at])));
  const text = new Parts(
    output,
    parts.map((part) => () => part.map((piece) => marked(piece, explained.has(piece.index)))),
  );
  const reasons = new Parts(
    list,
    grouped(explanations, MOST_EXPLANATIONS).map((group) => () => group.map((one) => explanation(one, show))),
  );

  /** @param {Explanation} one */
  function show({ segment }) {
    text.showUpTo(partOf.get(segment) ?? 0);
    const place = output.querySelector(`[data-segment="${segment}"]`);
    flash(output, place);
  }

  output.onclick = ({ target }) => {
    const place = target instanceof Element && /** @type {HTMLElement | null} */ (target.closest("[data-segment]"));
    const at = place ? explained.get(Number(place.dataset.segment)) : undefined;
    if (at === undefined || window.getSelection()?.isCollapsed === false) return;
    reasons.showUpTo(Math.floor(at / MOST_EXPLANATIONS));
    flash(list, list.children[at]);
    list.children[at].querySelector("button")?.focus({ preventScroll: true });
  };
}

/**
 * Scroll to an element and set it off from all others in a container.
 *
 * @param {HTMLElement} container
 * @param {Element | null} chosen
 */
function flash(container, chosen) {
  for (const other of container.querySelectorAll(".try-it-chosen")) other.classList.remove("try-it-chosen");
  chosen?.classList.add("try-it-chosen");
  chosen?.scrollIntoView({ block: "nearest" });
}

/**
 * Cut segments into parts that are quickly shown. A piece of a segment keeps its index.
 *
 * @param {Segment[]} segments
 * @returns {(Segment & {index: number})[][]}
 */
function inParts(segments) {
  /** @type {(Segment & {index: number})[][]} */
  const parts = [[]];
  let room = MOST_CHARACTERS;
  segments.forEach(({ kind, text }, index) => {
    for (let start = 0; start < text.length; ) {
      const end = cutAt(text, start + room);
      if (end <= start || parts[parts.length - 1].length === MOST_SEGMENTS) {
        parts.push([]);
        room = MOST_CHARACTERS;
        continue;
      }
      parts[parts.length - 1].push({ kind, text: text.slice(start, end), index });
      room -= end - start;
      start = end;
    }
  });
  return parts;
}

/**
 * Return where text may be cut at or before an index: not between the halves of a surrogate pair.
 *
 * @param {string} text
 * @param {number} at
 */
function cutAt(text, at) {
  if (at >= text.length) return text.length;
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/**
 * @param {Segment & {index: number}} segment
 * @param {boolean} isExplained
 */
function marked({ kind, text, index }, isExplained) {
  if (kind === "text" && !isExplained) return document.createTextNode(text);
  return element("span", { className: `try-it-${kind}`, dataset: { segment: index } }, text);
}

/**
 * @param {Explanation} one
 * @param {(one: Explanation) => void} show
 */
function explanation(one, show) {
  const { kind, place, subject, detail, notes } = one;
  const said = element("div", { className: "try-it-said" });
  if (kind === "rejected") said.append(element("strong", {}, subject), `: ${detail}`);
  else if (subject) said.append(element("code", {}, subject), detail && ` ${detail}`);
  for (const note of notes) said.append(element("div", { className: "try-it-note" }, note));
  return element(
    "li",
    {},
    element("span", { className: `try-it-kind try-it-${kind}` }, kind),
    element(
      "button",
      { type: "button", className: "try-it-place", title: "Show it in the output", onclick: () => show(one) },
      place,
    ),
    said,
  );
}
