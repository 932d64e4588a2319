// What podstep uses of Mediabunny. `.ci/browser-packages` bundles it into static/vendor/mediabunny.js; pages never load
// this file.

export { BufferTarget, CanvasSource, Output, Quality, WebMOutputFormat } from "mediabunny";
