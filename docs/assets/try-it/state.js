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
const FLAGS = ["coerce_arguments", "repair", "split_reasoning", "starts_reasoning", "progress"];
const FORMATS = ["json", "function", "pythonic", "code"];
const LIMITS = ["max_depth", "max_call_length", "max_calls", "max_rejections"];
const PREFIX = "#try=";
const MOST_PACKED_BYTES = 30_000; // of a link, before they are written in base 64
const MOST_UNPACKED_BYTES = 1_000_000; // a link that unpacks to more would freeze the page that opens it

/** A link cannot be opened; says why. */
class LinkError extends Error {}

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
  fields.formats.value = Array.isArray(formats) ? "some" : (formats ?? "");
  for (const box of fields.format) box.checked = forms.includes(box.value);
  for (const name of FLAGS) fields[name].checked = options[name] === true;
  for (const name of LIMITS) fields[name].value = limits?.[name] ?? "";
  fields.incomplete.checked = !complete;
  fields.chunk.value = String(chunk);
}

/**
 * Return the part of a link that has a state.
 *
 * @param {State} state
 * @returns {Promise<string | null>} It begins with `#`; `null`: the output is too long for a link.
 */
export async function toFragment(state) {
  const changed = Object.entries(state).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[/** @type {keyof State} */ (name)]),
  );
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(changed)));
  if (json.length > MOST_UNPACKED_BYTES) return null;
  const packed = await through(new CompressionStream("deflate-raw"), json);
  if (packed.length > MOST_PACKED_BYTES) return null;
  const bytes = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return PREFIX + btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Return the state in a link.
 *
 * @param {string} fragment Begins with `#`, or is empty.
 * @returns {Promise<Partial<State> | null>} `null`: it has none.
 * @throws {Error} It has one that cannot be read, or one that is larger than any that `toFragment` writes.
 */
export async function fromFragment(fragment) {
  if (!fragment.startsWith(PREFIX)) return null;
  try {
    if (fragment.length > PREFIX.length + (MOST_PACKED_BYTES / 3) * 4) throw tooLarge();
    const packed = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
    const json = await through(new DecompressionStream("deflate-raw"), bytes);
    return checked(JSON.parse(new TextDecoder().decode(json)));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("This link is broken: what it was to show cannot be read. Was all of it copied?");
  }
}

function tooLarge() {
  return new LinkError("This link is larger than any that this page writes, and was not opened.");
}

/**
 * Check a state that came from outside: the form has a place for all of it.
 *
 * @param {any} state
 * @returns {Partial<State>}
 */
function checked(state) {
  if (!isObject(state)) throw new TypeError("state");
  for (const [name, value] of Object.entries(state)) {
    const expected = Object.hasOwn(DEFAULTS, name) ? DEFAULTS[/** @type {keyof State} */ (name)] : undefined;
    if (typeof value !== typeof expected || isObject(value) !== isObject(expected)) throw new TypeError(name);
  }
  for (const [name, value] of Object.entries(state.options ?? {})) if (!isOption(name, value)) throw new TypeError(name);
  return state;
}

/**
 * @param {string} name
 * @param {any} value
 */
function isOption(name, value) {
  if (FLAGS.includes(name)) return typeof value === "boolean";
  if (name === "on_unknown_tool") return value === "text" || value === "call";
  if (name === "formats") {
    return value === "all" || value === "none" || (Array.isArray(value) && value.every((one) => FORMATS.includes(one)));
  }
  if (name !== "limits" || !isObject(value)) return false;
  return Object.entries(value).every(([limit, most]) => LIMITS.includes(limit) && Number.isFinite(most));
}

/** @param {any} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Send bytes through a stream.
 *
 * @param {CompressionStream | DecompressionStream} stream
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {LinkError} More bytes come out than a link may have.
 */
async function through(stream, bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let count = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    count += part.value.length;
    if (count > MOST_UNPACKED_BYTES) {
      void reader.cancel();
      throw tooLarge();
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
