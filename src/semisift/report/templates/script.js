"use strict";
(() => {
  const page = document.documentElement;

  // The theme: the reader's choice, else that of the system. Storage may be forbidden for files.
  const remember = (value) => { try { localStorage.setItem("semisift-theme", value); } catch { /* not kept */ } };
  const recall = () => { try { return localStorage.getItem("semisift-theme"); } catch { return null; } };
  const chosen = recall();
  if (chosen === "dark" || chosen === "light") page.dataset.theme = chosen;
  const button = document.getElementById("theme");
  const isDark = () =>
    (page.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const say = () => { button.setAttribute("aria-pressed", String(isDark())); };
  button.hidden = false;
  button.addEventListener("click", () => {
    page.dataset.theme = isDark() ? "light" : "dark";
    remember(page.dataset.theme);
    say();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();

  // The table: sorted by any column, equal values in the order of the ranks.
  const table = document.getElementById("features");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const text = (row, column) => row.cells[column].textContent.trim();
  const number = (row, column) => {
    const value = text(row, column).replaceAll(",", "").replace("∞", "Infinity");
    return value === "none" ? NaN : value === "" ? 0 : Number(value);
  };
  const compare = {
    word: (a, b) => words.compare(a, b),
    number: (a, b) => (a === b ? 0 : a < b ? -1 : 1),
  };
  const sort = (column, kind, direction) => {
    const read = kind === "word" ? text : number;
    const keyed = rows.map((row, place) => ({ row, place, key: read(row, column) }));
    keyed.sort((a, b) => {
      const missing = Number(Number.isNaN(a.key)) - Number(Number.isNaN(b.key));
      if (missing || Number.isNaN(a.key)) return missing || a.place - b.place;
      return direction * compare[kind](a.key, b.key) || a.place - b.place;
    });
    body.append(...keyed.map((item) => item.row));
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const kind = head.dataset.sort;
    if (!kind) return;
    const control = document.createElement("button");
    control.type = "button";
    control.append(...head.childNodes);
    head.append(control);
    control.addEventListener("click", () => {
      const first = head.dataset.first === "down" ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const next = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", next);
      sort(column, kind, next === "ascending" ? 1 : -1);
    });
  });

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
