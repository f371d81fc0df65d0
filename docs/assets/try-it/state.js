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
const MOST_PACKED_BYTES = 30_000; // of a link, before they are written in base 64

/**
 * Return the fields of a form by their names; of several of one name, all of them.
 *
 * @param {HTMLFormElement} form
 * @returns {any}
 */
export function fieldsOf(form) {
  return form.elements;
}

/**
 * Return what a form says.
 *
 * @param {HTMLFormElement} form
 * @returns {State}
 */
export function readForm(form) {
  const fields = fieldsOf(form);
  /** @type {Record<string, any>} */
  const options = {};
  if (fields.on_unknown_tool.value !== "text") options.on_unknown_tool = fields.on_unknown_tool.value;
  const formats = fields.formats.value;
  if (formats === "some") options.formats = [...fields.format].flatMap(({ checked, value }) => (checked ? value : []));
  else if (formats) options.formats = formats;
  for (const name of FLAGS) if (fields[name].checked) options[name] = true;
  const limits = LIMITS.filter((name) => fields[name].value !== "").map((name) => [name, Number(fields[name].value)]);
  if (limits.length > 0) options.limits = Object.fromEntries(limits);
  return {
    text: fields.text.value,
    tools: fields.tools.value,
    options,
    complete: !fields.incomplete.checked,
    chunk: Number(fields.chunk.value),
  };
}

/**
 * Fill a form. What it has no place for is passed over.
 *
 * @param {HTMLFormElement} form
 * @param {Partial<State>} state What is not in it is as by default.
 */
export function fillForm(form, state) {
  const fields = fieldsOf(form);
  const { text, tools, options, complete, chunk } = { ...DEFAULTS, ...state };
  const { on_unknown_tool, formats, limits } = options;
  const forms = Array.isArray(formats) ? formats : [];
  fields.text.value = text;
  fields.tools.value = tools;
  fields.on_unknown_tool.value = on_unknown_tool === "call" ? "call" : "text";
  fields.formats.value = forms.length > 0 ? "some" : (formats ?? "");
  for (const box of fields.format) box.checked = forms.includes(box.value);
  for (const name of FLAGS) fields[name].checked = options[name] === true;
  for (const name of LIMITS) fields[name].value = limits?.[name] ?? "";
  fields.incomplete.checked = !complete;
  fields.chunk.value = String(chunk);
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
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(changed)));
  const packed = await through(new CompressionStream("deflate-raw"), json);
  if (packed.length > MOST_PACKED_BYTES) return null;
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
    const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
    const json = await through(new DecompressionStream("deflate-raw"), bytes);
    return checked(JSON.parse(new TextDecoder().decode(json)));
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
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
