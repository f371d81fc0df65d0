/** What the page was asked: in its form, and in its link. */

/**
 * @typedef {object} State
 * @property {string} text What the model wrote.
 * @property {string} tools JSON; empty: none are declared.
 * @property {Record<string, any>} options Those of `ReadOptions` that are not as by default.
 * @property {boolean} complete Whether the model ended its turn.
 * @property {number} chunk How many characters a chunk of the stream has.
 */

/** @type {State} */
const DEFAULTS = { text: "", tools: "", options: {}, complete: true, chunk: 4 };
const FLAGS = ["coerce_arguments", "lenient", "repair", "split_reasoning", "starts_reasoning", "progress"];
const LIMITS = ["max_depth", "max_call_length", "max_calls", "max_rejections"];
const PREFIX = "#try=";
const LONGEST_LINK = 30_000;

/**
 * Return what a form says.
 *
 * @param {HTMLFormElement} form
 * @returns {State}
 */
export function readForm(form) {
  const { elements } = form;
  /** @type {Record<string, any>} */
  const options = {};
  if (elements.on_unknown_tool.value !== "text") options.on_unknown_tool = elements.on_unknown_tool.value;
  const formats = elements.formats.value;
  if (formats === "some") options.formats = [...elements.format].filter((box) => box.checked).map((box) => box.value);
  else if (formats) options.formats = formats;
  for (const name of FLAGS) if (elements[name].checked) options[name] = true;
  const limits = LIMITS.filter((name) => elements[name].value !== "").map((name) => [name, Number(elements[name].value)]);
  if (limits.length > 0) options.limits = Object.fromEntries(limits);
  return {
    text: elements.text.value,
    tools: elements.tools.value,
    options,
    complete: !elements.incomplete.checked,
    chunk: Number(elements.chunk.value),
  };
}

/**
 * Fill a form. What it has no place for is passed over.
 *
 * @param {HTMLFormElement} form
 * @param {Partial<State>} state What is not in it is as by default.
 */
export function fillForm(form, state) {
  const { elements } = form;
  const { text, tools, options, complete, chunk } = { ...DEFAULTS, ...state };
  const { on_unknown_tool = "text", formats = "", limits = {} } = options;
  elements.text.value = text;
  elements.tools.value = tools;
  elements.on_unknown_tool.value = on_unknown_tool === "call" ? "call" : "text";
  elements.formats.value = Array.isArray(formats) ? "some" : formats;
  for (const box of elements.format) box.checked = formats.includes(box.value);
  for (const name of FLAGS) elements[name].checked = options[name] === true;
  for (const name of LIMITS) elements[name].value = limits[name] ?? "";
  elements.incomplete.checked = !complete;
  elements.chunk.value = String(chunk);
}

/**
 * Return the part of a link that holds a state.
 *
 * @param {State} state
 * @returns {Promise<string | null>} It begins with `#`; `null`: the output is too long for a link.
 */
export async function toFragment(state) {
  const changed = Object.entries(state).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[/** @type {keyof State} */ (name)]),
  );
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(Object.fromEntries(changed))));
  if (packed.length > LONGEST_LINK) return null;
  const bytes = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return PREFIX + btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Return the state that a link holds.
 *
 * @param {string} fragment Begins with `#`, or is empty.
 * @returns {Promise<Partial<State> | null>} `null`: it holds none.
 * @throws {Error} It holds one that cannot be read.
 */
export async function fromFragment(fragment) {
  if (!fragment.startsWith(PREFIX)) return null;
  try {
    const packed = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(packed, (char) => char.charCodeAt(0)));
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    throw new Error("This link is broken: what it was to show cannot be read. Was all of it copied?");
  }
}

/**
 * Check a state that came from outside.
 *
 * @param {any} state
 * @returns {Partial<State>}
 */
function checked(state) {
  for (const [name, value] of Object.entries(state)) {
    const expected = DEFAULTS[/** @type {keyof State} */ (name)];
    if (typeof value !== typeof expected || value === null || Array.isArray(value)) throw new TypeError(name);
  }
  return state;
}

/**
 * Send bytes through a stream.
 *
 * @param {CompressionStream | DecompressionStream} stream
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 */
async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
