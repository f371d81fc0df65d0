/**
 * The worker in which Python runs: JSON in, JSON out. It fetches nothing but files of this site.
 *
 * It posts `{status}` while it starts, then for each question `{answer}` or, if there can be none, `{failure}`.
 */

const CURE = "Please report it. If the site is your own build, run make docs again.";
const RUNTIME = new URL("runtime/", import.meta.url);

const started = start();
started.catch(() => {}); // each question reports it

self.onmessage = async ({ data: question }) => {
  try {
    const answer = await started;
    self.postMessage({ answer: answer(question) });
  } catch (error) {
    self.postMessage({ failure: error instanceof Error ? error.message : String(error) });
  }
};

/**
 * Start Python with the library.
 *
 * @returns {Promise<(question: string) => string>} `answer` of `reading.py`.
 */
async function start() {
  const { missing, wheel, megabytes } = await (await fetched(new URL("manifest.json", RUNTIME))).json();
  if (missing) throw new Error(missing);
  self.postMessage({ status: `Loading Python: ${megabytes} MB, once …` });
  const { loadPyodide } = await import(new URL("pyodide.mjs", RUNTIME).href);
  const python = await loadPyodide({ indexURL: RUNTIME.href });
  self.postMessage({ status: "Loading llama3-tools …" });
  const [library, reading] = await Promise.all([
    fetched(new URL(wheel, RUNTIME)).then((response) => response.arrayBuffer()),
    fetched(new URL("reading.py", import.meta.url)).then((response) => response.text()),
  ]);
  python.unpackArchive(library, "wheel");
  python.runPython(reading);
  return python.globals.get("answer");
}

/**
 * Fetch a file of this site, newly if it has changed.
 *
 * @param {URL} url
 * @returns {Promise<Response>}
 */
async function fetched(url) {
  const response = await fetch(url, { cache: "no-cache" }).catch(() => {
    throw new Error(`${url.pathname} could not be loaded. Are you offline?`);
  });
  if (!response.ok) throw new Error(`This site lacks ${url.pathname}, HTTP ${response.status}. ${CURE}`);
  return response;
}
