// What podstep uses of uqr. `.ci/browser-packages` bundles it into static/vendor/qr.js; pages never load this file.

export { encode } from "uqr";
