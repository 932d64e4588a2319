// A classic script in <head>, fetched beside everything else: the connection is made and the source is asked for while
// the page's modules are still on their way. lib/socket.ts takes both over; without it, it does the same later.
(function () {
  if ("podstepEarly" in window) return; // it comes after the modules, which have a connection of their own
  var url = new URL("/ws/", location.href);
  var framed = /^\/e\/([^/]+)\/$/.exec(location.pathname); // as in lib/socket.ts
  if (framed) {
    var query = new URLSearchParams(location.search);
    url.searchParams.set("frame", framed[1]);
    if (query.get("lock") === "1") {
      url.searchParams.set("lock", "1");
      url.searchParams.set("step", query.get("step") || "");
    } else if (query.get("veil")) {
      url.searchParams.set("veil", query.get("veil"));
      if (query.has("upto")) url.searchParams.set("upto", query.get("upto"));
    }
  }
  var room = /^\/r\/([^/]+)\/$/.exec(location.pathname);
  if (room) url.searchParams.set("room", room[1]);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  var early = { url: url.href, socket: new WebSocket(url.href), frames: [], asked: "" };
  window.podstepEarly = early;
  early.socket.onmessage = function (event) {
    early.frames.push(event.data);
  };
  function ask() {
    var source = document.getElementById("source");
    if (early.asked || !source?.nextSibling || early.socket.readyState !== WebSocket.OPEN) return;
    var place = document.querySelector("[data-workbench]");
    var run = /^\/runs\/[^/]+\/at\/([^/]*)\/?$/.exec(location.pathname);
    var step =
      new URLSearchParams(location.search).get("step") || (run ? decodeURIComponent(run[1]) : "") || place.dataset.step;
    var payload = { source: JSON.parse(source.textContent) };
    if (step) payload.step = step;
    early.asked = JSON.stringify(payload);
    early.socket.send(JSON.stringify(["scenario.open", 1, payload]));
  }
  early.socket.onopen = ask;
  document.addEventListener("DOMContentLoaded", ask);
})();
