// A classic script in <head>: the theme is set before the first paint, so nothing flashes.
(function () {
  var kept = null;
  try {
    kept = localStorage.getItem("podstep.theme");
  } catch {
    /* storage is off: follow the system */
  }
  var light = window.matchMedia && matchMedia("(prefers-color-scheme: light)").matches;
  document.documentElement.dataset.theme = kept === "light" || kept === "dark" ? kept : light ? "light" : "dark";
})();
