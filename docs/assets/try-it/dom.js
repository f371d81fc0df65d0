/** Elements of the page. What a model wrote becomes text, never markup. */

/**
 * Make an element.
 *
 * @param {string} name
 * @param {Record<string, any>} properties Of the element, such as `className` or `onclick`; `dataset` is filled.
 * @param {...(Node | string)} children Strings become text.
 * @returns {HTMLElement}
 */
export function element(name, { dataset = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}

/**
 * Return the element of this page that has an id.
 *
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`This page lacks its element ${id}`);
  return found;
}

/** Shows nodes in a container in parts, the first at once, each next one on demand: so no output freezes the page. */
export class Parts {
  #container;
  #parts;
  #shown = 0;
  #more;

  /**
   * @param {HTMLElement} container Is emptied. The button for the next part comes after it.
   * @param {(() => Node[])[]} parts Each makes its nodes.
   */
  constructor(container, parts) {
    this.#container = container;
    this.#parts = parts;
    this.#more = element("button", { type: "button", className: "md-button try-it-more", onclick: () => this.#next() });
    container.replaceChildren();
    const follows = container.nextElementSibling;
    if (follows?.classList.contains("try-it-more")) follows.remove();
    container.after(this.#more);
    this.#next();
  }

  /**
   * Show all parts up to one.
   *
   * @param {number} part Its index.
   */
  showUpTo(part) {
    while (this.#shown <= part && this.#shown < this.#parts.length) this.#next();
  }

  #next() {
    if (this.#shown < this.#parts.length) this.#container.append(...this.#parts[this.#shown++]());
    this.#more.hidden = this.#shown === this.#parts.length;
    this.#more.textContent = `Show more (${this.#shown} of ${this.#parts.length} parts)`;
  }
}

/**
 * Put items into groups of a size.
 *
 * @template T
 * @param {T[]} items
 * @param {number} size
 * @returns {T[][]}
 */
export function grouped(items, size) {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
