/** What a program gets: content, reasoning and calls. */

import { element, grouped, Parts } from "./dom.js";

/**
 * @typedef {object} Call
 * @property {string} name
 * @property {string} arguments JSON.
 * @property {string} id
 * @property {string} format
 * @property {[number, number]} span
 * @property {string | null} repaired_from
 */

const MOST_CALLS = 100;
const MOST_CHARACTERS = 50_000;

/**
 * Show text, or that there is none.
 *
 * @param {HTMLElement} place
 * @param {string | null} text `null`: there is none.
 */
export function showText(place, text) {
  place.classList.toggle("try-it-none", text === null);
  const parts = grouped(Array.from(text ?? "None"), MOST_CHARACTERS);
  new Parts(
    place,
    parts.map((part) => () => [document.createTextNode(part.join(""))]),
  );
}

/**
 * Show calls in a list.
 *
 * @param {HTMLElement} list
 * @param {Call[]} calls
 */
export function showCalls(list, calls) {
  const parts = grouped(calls, MOST_CALLS).map((group) => () => group.map(shownCall));
  new Parts(list, parts.length > 0 ? parts : [() => [element("li", { className: "try-it-none" }, "None")]]);
}

/** @param {Call} call */
export function shownCall(call) {
  const [start, end] = call.span;
  const facts = `${call.format}, characters ${start} to ${end}, ${call.id}`;
  const item = element(
    "li",
    {},
    element("code", { className: "try-it-name" }, call.name),
    element("pre", {}, call.arguments),
    element("div", { className: "try-it-note" }, facts),
  );
  if (call.repaired_from !== null) {
    const before = element("code", {}, call.repaired_from);
    item.append(element("div", { className: "try-it-note" }, "repaired from ", before));
  }
  return item;
}
