// Light or dark: as the system says, or as was chosen with the button.

const shown = () => document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = shown() === "dark" ? "light" : "dark";
  localStorage.setItem("unseen.theme", document.documentElement.dataset.theme);
  dispatchEvent(new Event("themechange"));
});
const chosen = localStorage.getItem("unseen.theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
