/** The page *Try it*: what is typed is read by the library itself, in a worker, and shown. */

import { byId, element } from "./dom.js";
import { Engine, READING } from "./engine.js";
import { showMarked } from "./marked.js";
import { Player } from "./player.js";
import { showCalls, showText } from "./results.js";
import { fieldsOf, fillForm, fromFragment, readForm, toFragment } from "./state.js";

const SETTLED_MS = 200; // without a keystroke, after which an output is read
const STOPPABLE_MS = 2_000; // of waiting, after which one may stop
const UNTRIED = ". It is long: llama3-tools extract --show says what other options would call.";
const FIELDS = /** @type {Record<string, string>} */ ({ tools: "Tools", options: "Options", chunk: "Chunks" });

/** @type {HTMLFormElement} */
const form = byId("try-it-form");
const results = byId("try-it-results");
const stop = byId("try-it-stop");
const player = new Player();
const engine = new Engine(showStatus);
let timer = 0; // of a reading that is to come; 0: none is
let stopTimer = 0;
let summary = "";
/** @type {{title: string, state: Partial<import("./state.js").State>}[]} */
let examples = [];
let links = 0; // how often a link was written or opened: the newest counts

/**
 * Say something in the line of the page that is read aloud.
 *
 * @param {string} text
 * @param {boolean} isError
 */
function say(text, isError = false) {
  const line = byId("try-it-status");
  line.textContent = text;
  line.classList.toggle("try-it-error", isError);
}

/** @param {string} status What the page waits for; empty: nothing. */
function showStatus(status) {
  window.clearTimeout(stopTimer);
  stop.hidden = true;
  results.setAttribute("aria-busy", String(status !== ""));
  if (!status) return;
  if (status !== READING) say(status);
  stopTimer = window.setTimeout(() => {
    stop.hidden = false;
    say(status);
  }, STOPPABLE_MS);
}

/**
 * Ask the library about what is in the form.
 *
 * @param {"read" | "play"} kind
 * @returns {Promise<any>} The answer; `null`: there is none to show, and why was said.
 */
async function ask(kind) {
  try {
    const answer = await engine.ask({ kind, ...readForm(form) });
    if (!answer?.error) return answer;
    refuse(answer.error);
  } catch (error) {
    say(`This does not work here. ${error instanceof Error ? error.message : error}`, true);
  }
  results.hidden = kind === "read" || results.hidden;
  return null;
}

/** @param {import("./engine.js").Refusal} refusal */
function refuse({ field, message }) {
  say(`${FIELDS[field] ?? field}: ${message}`, true);
  const place = byId(`try-it-${field}`);
  place.setAttribute("aria-invalid", "true");
  const around = place.closest("details");
  if (around) around.open = true;
}

/** Mark no field as refused. */
function unmark() {
  for (const field of Object.keys(FIELDS)) byId(`try-it-${field}`).removeAttribute("aria-invalid");
}

/** Give up all that was asked, and show none of it: the form gets something else. */
function forget() {
  window.clearTimeout(timer);
  timer = 0;
  if (engine.isBusy) engine.stop();
  player.unload();
  unmark();
  byId("try-it-example").value = "";
  results.hidden = true;
}

/** Read the text in the form, and show what is a call and what is not. */
async function read() {
  window.clearTimeout(timer);
  timer = 0;
  unmark();
  player.unload();
  void keepInLink();
  const answer = await ask("read");
  if (!answer) return;
  summary = answer.summary + (answer.is_read_again ? "" : UNTRIED);
  say(summary);
  showMarked(byId("try-it-output"), byId("try-it-explanations"), answer.segments, answer.explanations);
  byId("try-it-remark").textContent = answer.remark ?? "";
  showText(byId("try-it-content"), answer.content);
  byId("try-it-thoughts").hidden = answer.reasoning === null;
  showText(byId("try-it-reasoning"), answer.reasoning);
  showCalls(byId("try-it-calls"), answer.calls);
  byId("try-it-python").textContent = answer.python;
  byId("try-it-python-stream").textContent = "";
  byId("try-it-command").textContent = answer.command;
  results.hidden = false;
}

/** Play the output as a stream, or pause. */
async function playOrPause() {
  if (player.isPlaying) {
    player.pause();
    return;
  }
  if (timer) await read();
  if (results.hidden) return; // it was refused, or is forgotten
  if (!player.isLoaded) {
    const asked = JSON.stringify(readForm(form));
    const answer = await ask("play");
    if (!answer || asked !== JSON.stringify(readForm(form))) return; // what came meanwhile is read first
    say(summary);
    byId("try-it-python-stream").textContent = answer.python;
    player.load(answer);
  }
  player.play();
}

/** Keep what is in the form in the address of the page. */
async function keepInLink() {
  const link = ++links;
  const state = readForm(form);
  const fragment = await toFragment(state);
  if (link !== links) return fragment;
  const isFilled = fragment && (state.text || state.tools);
  history.replaceState(null, "", isFilled ? fragment : location.pathname + location.search);
  return fragment;
}

async function copyLink() {
  if ((await keepInLink()) === null) {
    say("This output is too long for a link: send it as a file.", true);
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied. It has all that you entered.");
  } catch {
    say("Copy the link from the address bar: this browser lets no page do so here.", true);
  }
}

/** Fill the form with what is in the link. Nothing is loaded or read until someone asks for it. */
async function openLink() {
  const link = ++links;
  try {
    const state = await fromFragment(location.hash);
    if (!state || link !== links) return;
    forget();
    fillForm(form, state);
    showChoices();
    say("This link has an output. Press “Read it” to read it.");
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
  }
}

/** Open the options if some are set, and show the forms of calls if some of them are to be chosen. */
function showChoices() {
  const { options, complete } = readForm(form);
  byId("try-it-formats").hidden = fieldsOf(form).formats.value !== "some";
  if (Object.keys(options).length > 0 || !complete) byId("try-it-options").closest("details").open = true;
}

async function listExamples() {
  const response = await fetch(new URL("examples.json", import.meta.url));
  examples = await response.json();
  const choice = byId("try-it-example");
  choice.append(...examples.map(({ title }, at) => element("option", { value: at }, title)));
  choice.addEventListener("change", () => choice.value !== "" && chooseExample(Number(choice.value)));
}

/**
 * Fill the form with an example, and read it.
 *
 * @param {number} at
 */
function chooseExample(at) {
  byId("try-it-example").value = String(at);
  fillForm(form, examples[at].state);
  showChoices();
  void read();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void read();
});
form.addEventListener("input", (event) => {
  if (event.target === byId("try-it-example") || event.target === byId("try-it-step")) return;
  if (event.target === byId("try-it-chunk")) {
    player.unload();
    void keepInLink();
    return;
  }
  byId("try-it-example").value = "";
  showChoices();
  window.clearTimeout(timer);
  timer = window.setTimeout(read, SETTLED_MS);
});
byId("try-it-play").addEventListener("click", playOrPause);
byId("try-it-link").addEventListener("click", copyLink);
byId("try-it-clear").addEventListener("click", () => {
  forget();
  fillForm(form, {});
  void keepInLink();
  say("");
  fieldsOf(form).text.focus();
});
stop.addEventListener("click", () => {
  engine.stop();
  say("Stopped. A shorter output, or larger chunks, take less time.", true);
});
window.addEventListener("hashchange", openLink);

form.hidden = false;
await Promise.all([openLink(), listExamples()]);
if (!location.hash.startsWith("#try=")) chooseExample(0);
