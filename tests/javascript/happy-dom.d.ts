// Its own declarations bring Node's with them, and its elements are not those of a browser's.

export const Browser: any;
