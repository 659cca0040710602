// Before anything is painted: the chosen theme, and tables that begin folded, so that nothing flashes.
const root = document.documentElement;
root.classList.add("js");
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) root.dataset.theme = chosen;
} catch { /* storage is forbidden: the system's theme it is */ }
document.addEventListener("DOMContentLoaded", () => {
  for (const one of document.querySelectorAll("[data-fold]")) one.open = false;
  if (matchMedia("(max-width: 60rem)").matches) document.querySelector("details.menu")?.removeAttribute("open");
  root.classList.add("ready");
});
