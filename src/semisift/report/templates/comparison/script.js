"use strict";
(() => {
  {% include "theme.js" %}

  {% include "sort.js" %}

  document.querySelectorAll("table.sortable").forEach(sortable);

  // The choice: what is not chosen carries the class "off".
  const form = document.getElementById("chooser");
  const status = form.querySelector("[role=status]");
  const parts = [...document.querySelectorAll("main [data-method], main [data-dataset]")];
  const panels = [...document.querySelectorAll(".panel")];
  const boxes = (kind) => [...form.querySelectorAll(`fieldset[data-kind=${kind}] input`)];
  const chosenOf = (name) => Number(document.getElementById(name)?.value ?? 0);
  const nMetrics = document.getElementById("metric")?.options.length ?? 1;
  const bands = document.getElementById("bands");
  const apply = () => {
    const off = {};
    const counts = ["method", "dataset"].map((kind) => {
      const all = boxes(kind);
      off[kind] = new Set(all.filter((box) => !box.checked).map((box) => box.value));
      const noun = kind === "method" ? "methods" : "data sets";
      return `${all.length - off[kind].size} of ${all.length} ${noun}`;
    });
    parts.forEach((part) => {
      const hides = off.method.has(part.dataset.method) || off.dataset.has(part.dataset.dataset);
      part.classList.toggle("off", hides);
    });
    const panel = chosenOf("judge") * nMetrics + chosenOf("metric");
    panels.forEach((each) => { each.hidden = Number(each.dataset.panel) !== panel; });
    page.classList.toggle("bands-off", !bands.checked);
    status.textContent = `${counts.join(" and ")} are shown`;
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", apply);
  form.querySelectorAll("button[data-all]").forEach((control) => {
    control.addEventListener("click", () => {
      boxes(control.closest("fieldset").dataset.kind).forEach((box) => { box.checked = Boolean(control.dataset.all); });
      apply();
    });
  });
  apply();

  // A method that is pointed at stands out from the others, in the pictures of its part of the page.
  document.querySelectorAll(".legend.methods").forEach((legend) => {
    const part = legend.closest(".panel");
    const items = [...part.querySelectorAll(".legend.methods [data-method], .small-pictures svg [data-method]")];
    const point = (method) => {
      items.forEach((item) => item.classList.toggle("stands-out", item.dataset.method === method));
      part.querySelectorAll(".small-pictures").forEach((each) => each.classList.toggle("dims", method !== undefined));
    };
    items.forEach((item) => {
      item.addEventListener("mouseenter", () => point(item.dataset.method));
      item.addEventListener("mouseleave", () => point(undefined));
    });
  });

  {% include "download.js" %}
})();
