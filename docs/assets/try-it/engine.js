/** Asks the worker, one question at a time. Of questions that wait, the newest of each kind counts. */

/**
 * @typedef {import("./state.js").State} State
 * @typedef {State & {kind: "read" | "play"}} Question
 * @typedef {{field: string, message: string}} Refusal What could not be used, and where it is on the page.
 */

/** The status while a question is answered. */
export const READING = "Reading …";

const NOT_LOADED =
  "Its script worker.js could not be loaded. Are you offline? If not, this server does not send it as JavaScript.";

export class Engine {
  /** @type {Worker | null} */
  #worker = null;
  /** @type {{question: Question, resolve: Function, reject: Function} | null} */
  #running = null;
  /** @type {Map<string, {question: Question, resolve: Function, reject: Function}>} */
  #waiting = new Map();
  #onStatus;

  /** @param {(status: string) => void} onStatus is told what the page waits for; `""`: for nothing. */
  constructor(onStatus) {
    this.#onStatus = onStatus;
  }

  /** Whether a question runs or waits. */
  get isBusy() {
    return this.#running !== null;
  }

  /**
   * Ask a question.
   *
   * @param {Question} question
   * @returns {Promise<any>} The answer of `reading.py`; `null` if a newer question of its kind came, or it was stopped.
   */
  ask(question) {
    this.#waiting.get(question.kind)?.resolve(null);
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.kind, { question, resolve, reject });
      this.#next();
    });
  }

  /** Give up what runs and what waits. The next question starts Python anew. */
  stop() {
    this.#worker?.terminate();
    this.#worker = null;
    for (const asked of [this.#running, ...this.#waiting.values()]) asked?.resolve(null);
    this.#running = null;
    this.#waiting.clear();
    this.#onStatus("");
  }

  #next() {
    if (this.#running || this.#waiting.size === 0) return;
    const [[kind, asked]] = this.#waiting;
    this.#waiting.delete(kind);
    this.#running = asked;
    this.#onStatus(READING);
    this.#worker ??= this.#newWorker();
    this.#worker.postMessage(JSON.stringify(asked.question));
  }

  #newWorker() {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.status) this.#onStatus(data.status);
      else this.#finish(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#finish({ failure: event.message || NOT_LOADED });
    };
    return worker;
  }

  /** @param {{answer?: string, failure?: string}} data */
  #finish({ answer, failure }) {
    const asked = this.#running;
    this.#running = null;
    this.#onStatus("");
    if (failure !== undefined) {
      this.#worker?.terminate(); // the next question tries again
      this.#worker = null;
      asked?.reject(new Error(failure));
    } else {
      const isStale = asked && this.#waiting.has(asked.question.kind);
      asked?.resolve(isStale || answer === undefined ? null : JSON.parse(answer));
    }
    this.#next();
  }
}
