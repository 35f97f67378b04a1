// The rest of the queue: a row with its reason, one click away.
const MAX_LISTED = 12;
const queueItem = ({ row, reason, guess }) => {
  const taking = make("button", { type: "button", class: "take", "data-row": row, "aria-current": row === session.now ? "true" : null });
  if (state.table.image) {
    const canvas = make("canvas", { class: "small", "aria-hidden": "true" });
    showImage(canvas, details.get(row)?.image);
    taking.append(canvas);
  }
  const again = session.skipped.has(row) ? " (skipped)" : "";
  taking.append(markOf(guess ?? -1, false), make("span", {}, make("strong", {}, named(nameOf(row))), `${again} `, make("span", { class: "quiet" }, reason)));
  if (guess >= 0) taking.append(unseen(`, guess: ${className(guess)}`));
  taking.addEventListener("click", () => {
    take(row);
    byId("row-name").focus();
  });
  return make("li", {}, taking);
};
show(() => {
  const rows = queueRows();
  const listed = rows.slice(0, MAX_LISTED);
  const needsDetail = state.table.image || session.chosen;
  if (needsDetail) listed.forEach(({ row }) => { if (!details.has(row)) detailOf(row); });
  const look = listed.map(({ row, reason, guess }) => [row, nameOf(row), reason, guess, row === session.now, session.skipped.has(row), Boolean(details.get(row)?.image)]);
  byId("own-queue").hidden = !session.chosen;
  const more = rows.length > listed.length ? ` The first ${listed.length} are listed.` : "";
  const what = session.chosen ? `${counted(rows.length, "row")} that you chose on the map.` : "The rows whose labels would help most, best first.";
  write(byId("queue-words"), rows.length ? what + more : "Empty for now.");
  if (!isNew("queue", [look, state.classes.map(({ name }) => name)])) return;
  const held = document.activeElement?.dataset?.row;
  byId("queue-rows").replaceChildren(...listed.map(queueItem));
  if (held !== undefined) byId("queue-rows").querySelector(`[data-row="${held}"]`)?.focus();
});
byId("own-queue").addEventListener("click", () => {
  session.chosen = null;
  session.now = null;
  refresh();
  byId("row-name").focus();
});
