// A table as a file: what `semisift.report._download` packed.
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const { head, columns } = JSON.parse(await new Response(stream).text());
  const n = Math.max(0, ...columns.map((cells) => (cells ? cells.length : 0)));
  const lines = Array.from({ length: n }, (_, row) =>
    columns.map((cells) => (cells ? cells[row] : row + 1)).join(","));
  return [head, ...lines.map((line) => `${line}\n`)];
};
const saved = document.getElementById("packed-file");
const offer = document.getElementById("download");
if ("DecompressionStream" in window) {
  offer.hidden = false;
  offer.querySelector("button").addEventListener("click", async () => {
    const file = new Blob(await unpack(saved.textContent), { type: "text/csv;charset=utf-8" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = saved.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
}
