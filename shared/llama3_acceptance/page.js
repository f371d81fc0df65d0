"use strict";
{
  const filters = document.getElementById("filters");
  const results = [...document.querySelectorAll(".result")];
  const search = document.getElementById("search");
  const differs = document.getElementById("differs");
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
  const onClick = (id, action) => document.getElementById(id).addEventListener("click", action);

  onClick("all", () => check(() => true));
  onClick("failed", () => check((verdict) => verdict !== "passed"));
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
  apply();
}
