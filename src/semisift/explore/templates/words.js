// Elements, numbers and marks. Names come from the data: they become text, never markup.
const byId = (id) => document.getElementById(id);
const dress = (element, attributes, children) => {
  Object.entries(attributes).forEach(([name, value]) => { if (value !== null) element.setAttribute(name, value); });
  element.append(...children);
  return element;
};
const make = (tag, attributes = {}, ...children) => dress(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => dress(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const named = (name) => make("bdi", {}, name);
const unseen = (text) => make("span", { class: "unseen" }, text);
const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };

const number = (value) => value.toLocaleString("en");
const counted = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
const percent = (share) => `${Math.round(100 * share)}%`;
const figure = (value) =>
  (Number.isFinite(value) ? value.toLocaleString("en", { maximumSignificantDigits: 4 }).replace("-", "−") : "no value");
const within = (value, least, most) => Math.min(Math.max(value, least), most);
const shorten = (text, length = 60) => ([...text].length > length ? `${[...text].slice(0, length - 1).join("")}…` : text);

// A class has a colour and a shape of its own; from the ninth on they come in other pairs.
const N_LOOKS = SHAPES.length;
const colourOf = (place) => (place < 0 ? "muted" : `class-${(place % N_LOOKS) + 1}`);
const shapeOf = (place) => SHAPES[place < 0 ? 0 : (place + Math.floor(place / N_LOOKS)) % N_LOOKS];
const markOf = (place, filled) => {
  const colour = `var(--${colourOf(place)})`;
  const look = { d: shapeOf(place), fill: filled ? colour : "none", stroke: colour, "stroke-width": filled ? 0.6 : 1.4 };
  return draw("svg", { class: "mark", viewBox: "0 0 12 12", "aria-hidden": "true" }, draw("path", look));
};

// What is said aloud, and what stands on the page until it is settled.
const announce = (text) => {
  byId("live").append(make("p", {}, text)); // the ones before may still have to be read
  while (byId("live").children.length > 3) byId("live").firstChild.remove();
};
const notices = new Map();
const clearNotice = (key) => {
  notices.get(key)?.remove();
  notices.delete(key);
};
const notice = (key, children, actions = []) => {
  const text = make("p", {}, ...children);
  const old = notices.get(key);
  if (old && old.firstChild.textContent === text.textContent) return;
  const box = make("div", { class: "note caution notice", role: "alert" }, text);
  actions.forEach(([words, act]) => {
    const action = make("button", { type: "button" }, words);
    action.addEventListener("click", act);
    box.append(action, " ");
  });
  if (old) old.replaceWith(box);
  else byId("notices").append(box);
  notices.set(key, box);
};
