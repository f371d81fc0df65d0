"use strict";
{
  const filters = document.getElementById("filters");
  const results = [...document.querySelectorAll(".result")];
  const search = document.getElementById("search");
  const differs = document.getElementById("differs");
  const unclean = document.getElementById("unclean");
  const group = document.getElementById("group");
  let isInGroup = () => true;
  const verdicts = [...filters.querySelectorAll("[name=verdict]")];
  const text = new Map(results.map((result) => [result, result.textContent.toLowerCase()]));

  const apply = () => {
    const judged = filters.querySelector("[name=judged]:checked").value;
    const shown = new Set(verdicts.filter((box) => box.checked).map((box) => box.value));
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    for (const result of results) {
      const { parsed, coerced } = result.dataset;
      const fits =
        shown.has(result.dataset[judged]) &&
        (!differs.checked || parsed !== coerced) &&
        (!unclean.checked || result.dataset.allowed !== "") &&
        isInGroup(result.dataset) &&
        text.get(result).includes(wanted);
      result.hidden = !fits;
      count += fits ? 1 : 0;
    }
    for (const number of filters.querySelectorAll(".chip span")) {
      number.textContent = number.dataset[judged];
    }
    document.getElementById("count").textContent = `${count} of ${results.length} shown`;
  };
  const check = (wanted) => {
    for (const box of verdicts) {
      box.checked = wanted(box.value);
    }
    apply();
  };
  const open = (isOpen) => {
    for (const result of results) {
      if (!result.hidden) {
        result.open = isOpen;
      }
    }
  };
  const kinds = {
    tool: (name) => (data) => data.tool === name,
    tag: (name) => (data) => JSON.parse(data.tags).includes(name),
    verdict: (name) => (data) => data.parsed === name || data.coerced === name,
    allowance: (name) => (data) => data.allowed.split(" ").includes(name),
  };
  const show = (kind, name) => {
    isInGroup = kind ? kinds[kind](name) : () => true;
    group.hidden = !kind;
    group.textContent = kind ? `${kind}: ${name} ✕` : "";
    group.setAttribute("aria-label", kind ? `show more than ${kind} ${name}` : "");
    check(() => true);
  };
  for (const link of document.querySelectorAll("a[data-kind]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(link.dataset.kind, link.dataset.name);
      filters.scrollIntoView();
      const first = results.find((result) => !result.hidden);
      first?.querySelector("summary").focus();
    });
  }
  const pad = () => {
    const isSticky = getComputedStyle(filters).position === "sticky";
    document.documentElement.style.scrollPaddingTop = `${isSticky ? filters.offsetHeight + 8 : 8}px`;
  };
  new ResizeObserver(pad).observe(filters);
  window.addEventListener("resize", pad);
  const onClick = (id, action) => document.getElementById(id).addEventListener("click", action);

  onClick("all", () => check(() => true));
  onClick("failed", () => check((verdict) => verdict !== "passed"));
  onClick("group", () => show());
  onClick("open", () => open(true));
  onClick("close", () => open(false));
  filters.addEventListener("input", apply);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target === search;
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && isTyping) {
      search.value = "";
      apply();
      search.blur();
    }
  });
  filters.hidden = false;
  pad();
  apply();
}
