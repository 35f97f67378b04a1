"use strict";
(() => {
  {% include "theme.js" %}

  {% include "sort.js" %}

  {% include "values.js" %}

  {% include "download.js" %}

  const rows = sortable(document.getElementById("features"));

  // The search: rows whose name holds what was typed.
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const status = form.querySelector("[role=status]");
  const names = rows.map((row) => row.querySelector("td.feature").textContent.toLowerCase());
  const all = status.textContent;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let found = 0;
    rows.forEach((row, place) => {
      row.hidden = !names[place].includes(wanted);
      found += row.hidden ? 0 : 1;
    });
    status.textContent = wanted
      ? `${found.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows hold “${input.value.trim()}”`
      : all;
  });
})();
