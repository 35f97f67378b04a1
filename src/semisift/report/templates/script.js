"use strict";
(() => {
  {% include "theme.js" %}

  {% include "sort.js" %}

  {% include "values.js" %}

  {% include "download.js" %}

  const rows = sortable(document.getElementById("features"));

  // The search: rows whose name, or one of their family, holds what was typed.
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const status = form.querySelector("[role=status]");
  const texts = (row, selector) =>
    [...row.querySelectorAll(selector)].map((name) => name.textContent.toLowerCase()).join("\n");
  const names = rows.map((row) => texts(row, "td.feature > bdi, td.feature > span bdi"));
  const members = rows.map((row) => texts(row, ".copies li bdi"));
  const families = rows.map((row) => row.querySelector(".copies"));
  // A family is open while the search finds one of its members and not the feature itself.
  const unfold = (family, hit) => {
    if (!family || hit === "found" in family.dataset) return;
    if (hit && family.open) return;
    family.open = hit;
    if (hit) family.dataset.found = "";
    else delete family.dataset.found;
  };
  const all = status.textContent;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let found = 0;
    rows.forEach((row, place) => {
      const own = names[place].includes(wanted);
      const member = !own && members[place].includes(wanted);
      row.hidden = !own && !member;
      unfold(families[place], member);
      found += row.hidden ? 0 : 1;
    });
    status.textContent = wanted
      ? `${found.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows hold “${input.value.trim()}”`
      : all;
  });
})();
