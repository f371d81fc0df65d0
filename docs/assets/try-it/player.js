/** Plays an output chunk by chunk: what has come, what a program has got by then, and the events of each chunk. */

import { byId, element } from "./dom.js";
import { shownCall } from "./results.js";

/**
 * @typedef {{python: string, content?: string, reasoning?: string, call?: import("./results.js").Call}} Event
 * @typedef {{chunk: string, events: Event[]}} Step
 * @typedef {{steps: Step[], is_same: boolean}} Play
 */

const TICK_MS = 80; // from one step that is shown to the next
const LONGEST_PLAY_MS = 20_000; // more steps are shown several at once
const TAIL = 4_000; // characters

const REPORT = "Please report it with this page's link, as an issue of the kind “An output was read wrongly”.";

export class Player {
  /** @type {Step[]} */
  #steps = [];
  #isSame = true;
  #timer = 0;
  #slider = byId("try-it-step");
  #button = byId("try-it-play");

  constructor() {
    this.#slider.addEventListener("input", () => {
      this.pause();
      this.#show();
    });
  }

  get isLoaded() {
    return this.#steps.length > 0;
  }

  get isPlaying() {
    return this.#timer !== 0;
  }

  /** Forget what was played: the output or an option has changed. */
  unload() {
    this.pause();
    this.#steps = [];
    byId("try-it-played").hidden = true;
  }

  /** @param {Play} play */
  load({ steps, is_same }) {
    this.#steps = steps;
    this.#isSame = is_same;
    this.#slider.max = String(steps.length);
    this.#slider.value = "0";
    byId("try-it-played").hidden = false;
    this.#show();
  }

  /** Play on; from the beginning if it is at its end. */
  play() {
    if (Number(this.#slider.value) >= this.#steps.length) this.#slider.value = "0";
    const ticks = Math.ceil(LONGEST_PLAY_MS / TICK_MS);
    const stride = Math.ceil(this.#steps.length / ticks);
    this.#timer = window.setInterval(() => {
      this.#slider.value = String(Number(this.#slider.value) + stride);
      this.#show();
      if (Number(this.#slider.value) >= this.#steps.length) this.pause();
    }, TICK_MS);
    this.#button.textContent = "Pause";
  }

  pause() {
    window.clearInterval(this.#timer);
    this.#timer = 0;
    this.#button.textContent = "Play";
  }

  #show() {
    const count = Number(this.#slider.value);
    const come = this.#steps.slice(0, count);
    const events = come.flatMap((step) => step.events);
    const last = come.at(-1);
    byId("try-it-fed").replaceChildren(
      tail(come.slice(0, -1).map((step) => step.chunk).join("")),
      element("mark", {}, last?.chunk ?? ""),
    );
    byId("try-it-streamed").textContent = tail(events.map((event) => event.content ?? "").join(""));
    for (const id of ["try-it-fed", "try-it-streamed"]) byId(id).scrollTop = byId(id).scrollHeight;
    const thoughts = events.map((event) => event.reasoning ?? "").join("");
    byId("try-it-streamed-reasoning").textContent = tail(thoughts);
    byId("try-it-streamed-thoughts").hidden = thoughts === "";
    const calls = events.flatMap((event) => event.call ?? []);
    byId("try-it-streamed-calls").replaceChildren(...calls.slice(-20).map(shownCall));
    byId("try-it-events").textContent = last?.events.map((event) => event.python).join("\n") || "none";
    byId("try-it-progress").textContent = this.#progress(count);
  }

  /** @param {number} count */
  #progress(count) {
    const chunks = this.#steps.length - 1; // the last step is the end
    if (count < this.#steps.length) return `${count} of ${chunks} chunks`;
    const same = this.#isSame ? "the same as at once" : `NOT the same as at once. ${REPORT}`;
    return `all ${chunks} chunks and the end: ${same}`;
  }
}

/**
 * Return the end of a text that may be long.
 *
 * @param {string} text
 */
function tail(text) {
  return text.length > TAIL ? `… ${Array.from(text.slice(-TAIL)).slice(1).join("")}` : text;
}
