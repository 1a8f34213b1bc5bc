/* Runs before the page is shown: scripts are on, and the colours that were chosen last are in place. */
(function () {
  "use strict";
  var root = document.documentElement, chosen = "auto";
  root.classList.add("js");
  try { chosen = window.localStorage.getItem("nashboard-theme") || "auto"; } catch (error) { /* a file may not be allowed to remember */ }
  if (chosen === "light" || chosen === "dark") { root.dataset.theme = chosen; }
})();
