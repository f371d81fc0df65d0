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

/** Shows pages of nodes in a container, the first at once, each next one on demand: so no output freezes the page. */
export class Pages {
  #container;
  #pages;
  #shown = 0;
  #more;

  /**
   * @param {HTMLElement} container Is emptied. The button for the next page stands after it.
   * @param {(() => Node[])[]} pages Each makes its nodes.
   */
  constructor(container, pages) {
    this.#container = container;
    this.#pages = pages;
    this.#more = element("button", { type: "button", className: "md-button try-it-more", onclick: () => this.#next() });
    container.replaceChildren();
    const follows = container.nextElementSibling;
    if (follows?.classList.contains("try-it-more")) follows.remove();
    container.after(this.#more);
    this.#next();
  }

  /**
   * Show all pages up to one.
   *
   * @param {number} page Its index.
   */
  showUpTo(page) {
    while (this.#shown <= page && this.#shown < this.#pages.length) this.#next();
  }

  #next() {
    if (this.#shown < this.#pages.length) this.#container.append(...this.#pages[this.#shown++]());
    this.#more.hidden = this.#shown === this.#pages.length;
    this.#more.textContent = `Show more (${this.#shown} of ${this.#pages.length} parts)`;
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
