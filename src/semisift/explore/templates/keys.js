// Single keys work wherever the focus is, except while something is typed.
const isTyping = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
const actions = {
  s: skip,
  u: undo,
  j: () => step(1),
  k: () => step(-1),
  c: () => byId("new-name").focus(),
};
addEventListener("keydown", (event) => {
  if (!state || event.defaultPrevented || event.altKey || event.repeat) return;
  const key = event.key.toLowerCase();
  if (isTyping(event.target)) {
    if (key === "escape") byId("row-name").focus();
    return;
  }
  if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey) {
    event.preventDefault();
    undo();
    return;
  }
  if (event.ctrlKey || event.metaKey || !byId("keys-on").checked) return;
  const name = [...keyOf].find(([, own]) => own === event.key)?.[0];
  if (name !== undefined) labelNow(name);
  else if (key in actions) actions[key]();
  else return;
  event.preventDefault();
});
