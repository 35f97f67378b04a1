// Values of single marks: the one nearest to the pointer, or the one that the arrow keys reach.
const NEAR = 22; // pixels
const linesOf = (id) => document.getElementById(id).textContent.split("\n");
const addReader = (plot, title, marks) => {
  const make = (tag, name) => {
    const element = document.createElement(tag);
    element.className = name;
    plot.append(element);
    return element;
  };
  const [cursor, ring, tip] = [make("div", "cursor"), make("span", "ring"), make("span", "tip")];
  const says = { role: "slider", "aria-label": `${title}: single values, by arrow keys`, "aria-valuemin": 1, "aria-valuemax": marks.n, "aria-valuenow": 1, "aria-valuetext": marks.text(0) };
  Object.entries(says).forEach(([name, value]) => cursor.setAttribute(name, value));
  cursor.tabIndex = 0;
  ring.classList.toggle("cell", Boolean(marks.size));
  let at = 0;
  const hide = () => { ring.hidden = tip.hidden = true; };
  const show = (index) => {
    at = index;
    const [x, y] = marks.place(at);
    const [width, height] = [plot.clientWidth, plot.clientHeight];
    ring.hidden = tip.hidden = false;
    ring.style.left = `${x}%`;
    ring.style.top = `${y}%`;
    if (marks.size) [ring.style.width, ring.style.height] = marks.size.map((share) => `${share}%`);
    tip.textContent = marks.text(at);
    const left = Math.min(Math.max(0, (x / 100) * width - tip.offsetWidth / 2), width - tip.offsetWidth);
    tip.style.left = `${Math.max(0, left)}px`;
    const half = marks.size ? (marks.size[1] / 200) * height : 7;
    const above = (y / 100) * height - half - tip.offsetHeight - 4;
    tip.style.top = `${above < -4 ? (y / 100) * height + half + 4 : above}px`;
    cursor.setAttribute("aria-valuenow", at + 1);
    cursor.setAttribute("aria-valuetext", tip.textContent);
  };
  hide();
  const point = (event) => {
    const box = plot.getBoundingClientRect();
    const found = marks.find(event.clientX - box.left, event.clientY - box.top, box.width, box.height);
    if (found < 0) hide(); else show(found);
  };
  cursor.addEventListener("pointermove", point);
  cursor.addEventListener("pointerdown", point);
  cursor.addEventListener("pointerleave", hide);
  cursor.addEventListener("focus", () => { if (cursor.matches(":focus-visible")) show(at); });
  cursor.addEventListener("blur", hide);
  cursor.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { hide(); return; }
    const next = marks.move(at, event.key);
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(Math.min(Math.max(next, 0), marks.n - 1));
  });
};

// Marks with a place each, in percent of the picture.
document.querySelectorAll(".plot[data-at]").forEach((plot) => {
  const texts = linesOf(plot.dataset.tips);
  const numbers = plot.dataset.at.split(" ").map(Number);
  const n = numbers.length / 2;
  const place = (index) => numbers.slice(2 * index, 2 * index + 2);
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -n, End: n };
  addReader(plot, plot.dataset.title, {
    n,
    place,
    text: (index) => texts[index],
    move: (index, key) => (key in steps ? index + steps[key] : undefined),
    find: (x, y, width, height) => {
      let [found, least] = [-1, NEAR];
      for (let index = 0; index < n; index += 1) {
        const distance = Math.hypot((numbers[2 * index] / 100) * width - x, (numbers[2 * index + 1] / 100) * height - y);
        if (distance < least) [found, least] = [index, distance];
      }
      return found;
    },
  });
});

// Cells of a heatmap, line by line, or dots of markers.
const signed = (number, digits) => Number(number).toFixed(digits).replace("-", "−");
const sayCell = (line, x) => {
  const [mean, spread] = line;
  const value = line[x + 2];
  return value === "" ? "no value" : `${value} (${signed((value - mean) / spread, 1)} standard deviations)`;
};
const sayDot = (line, x) => `${line[2 * x]}% of rows have a value, ${signed(line[2 * x + 1], 2)} from the mean of all rows`;
document.querySelectorAll(".plot[data-grid]").forEach((plot) => {
  const names = [...plot.parentElement.querySelectorAll(".heat-names li")].map((item) => item.textContent);
  const columns = linesOf(`${plot.dataset.grid}-columns`);
  const values = linesOf(`${plot.dataset.grid}-values`).map((line) => line.split(" "));
  const say = plot.dataset.grid === "heat" ? sayCell : sayDot;
  const [wide, high] = [columns.length, names.length];
  const cell = (x, y) => Math.min(Math.max(y, 0), high - 1) * wide + Math.min(Math.max(x, 0), wide - 1);
  const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1], PageDown: [10, 0], PageUp: [-10, 0], Home: [-wide, 0], End: [wide, 0] };
  addReader(plot, document.getElementById(`${plot.dataset.grid}-title`).textContent, {
    n: wide * high,
    size: [100 / wide, 100 / high],
    place: (index) => [(((index % wide) + 0.5) / wide) * 100, ((Math.floor(index / wide) + 0.5) / high) * 100],
    text: (index) => {
      const [x, y] = [index % wide, Math.floor(index / wide)];
      return `${names[y]}, ${say(values[y], x)}: ${columns[x]}`;
    },
    move: (index, key) => (key in moves ? cell((index % wide) + moves[key][0], Math.floor(index / wide) + moves[key][1]) : undefined),
    find: (x, y, width, height) => cell(Math.floor((x / width) * wide), Math.floor((y / height) * high)),
  });
});
