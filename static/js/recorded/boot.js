// The classic script of a recording: what it holds compressed is unpacked here, and its modules run.
(function () {
  function text(held) {
    var binary = atob(held.content.textContent.trim());
    var bytes = Uint8Array.from(binary, function (letter) {
      return letter.charCodeAt(0);
    });
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }
  function run(held) {
    return text(held).then(function (code) {
      var script = document.createElement("script"); // whose hash the policy of the page names
      script.textContent = code;
      document.head.append(script);
    });
  }
  window.podstepHeld = { text: text, run: run };
  if ("DecompressionStream" in window) run(document.querySelector("template[data-script]"));
  else document.querySelector("[data-too-old]").hidden = false;
})();
