// A table that is sorted by any column, equal values in the first order; returns its rows.
const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const compare = {
  word: (a, b) => words.compare(a, b),
  number: (a, b) => (a === b ? 0 : a < b ? -1 : 1),
};
const read = {
  word: (cell) => cell.textContent.trim(),
  number: (cell) => {
    if (cell.dataset.value !== undefined) return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
    const value = cell.textContent.trim().replaceAll(",", "").replace("∞", "Infinity");
    return value === "none" ? NaN : value === "" ? 0 : Number(value);
  },
};
const sortable = (table) => {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const sort = (column, kind, direction) => {
    const keyed = rows.map((row, place) => ({ row, place, key: read[kind](row.cells[column]) }));
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
  return rows;
};
