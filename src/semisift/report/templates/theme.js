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
