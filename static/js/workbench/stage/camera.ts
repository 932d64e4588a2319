// Where the cells of the overview are on screen: the picture of all of them, zoomed and panned.

const ZOOM_MOST = 24;
const CLOSE = 26; // pixels of a cell that was searched for: its neighbours can be distinguished

export class Camera {
  width = 0;
  height = 0;
  zoom = 1;
  pan = { x: 0, y: 0 };
  covered = 0; // pixels at the lower end that the sheet lies over
  cell = 10; // pixels of a cell at zoom 1
  cells = new Float32Array(0); // x, y of every node's cell at zoom 1
  #before: { zoom: number; pan: { x: number; y: number } } | null = null;

  /** Take another size and arrangement of cells. */
  arrange(width: number, height: number, { cell, cells }: { cell: number; cells: Float32Array<ArrayBuffer> }) {
    Object.assign(this, { width, height, cell, cells });
    this.clamp();
  }

  /** Pixels of a cell. */
  get size() {
    return this.cell * this.zoom;
  }

  x(node: number) {
    return this.cells[node * 2] * this.zoom + this.pan.x;
  }

  y(node: number) {
    return this.cells[node * 2 + 1] * this.zoom + this.pan.y;
  }

  box(node: number) {
    return { x: this.x(node), y: this.y(node), size: this.size };
  }

  /** Whether a node has a cell. */
  has(node: number) {
    return node >= 0 && node * 2 < this.cells.length;
  }

  /** The node at a place, -1 where there is none. */
  hit(x: number, y: number) {
    const { size } = this;
    for (let node = 0; this.has(node); node += 1) {
      const left = this.x(node);
      const top = this.y(node);
      if (x >= left && y >= top && x < left + size && y < top + size) return node;
    }
    return -1;
  }

  /** Whether a cell is in view. */
  inView(node: number) {
    if (!this.width || !this.has(node)) return false;
    const { x, y, size } = this.box(node);
    return x >= -1 && y >= -1 && x + size <= this.width + 1 && y + size <= this.height - this.covered + 1;
  }

  /** Look at a place of the whole picture. */
  look(x: number, y: number) {
    this.pan = { x: this.width / 2 - x * this.zoom, y: this.height / 2 - y * this.zoom };
    this.clamp();
  }

  /** Bring a cell into view; `close` looks closer where cells are too small to distinguish. */
  reveal(node: number, close: boolean) {
    const closer = CLOSE / this.size;
    if (close && closer > 1.2) {
      this.#before ??= { zoom: this.zoom, pan: { ...this.pan } };
      this.zoom = Math.min(ZOOM_MOST, this.zoom * closer);
      this.#centreOn(node);
    } else if (!this.inView(node)) this.#centreOn(node);
  }

  #centreOn(node: number) {
    const { x, y, size } = this.box(node);
    this.pan.x += this.width / 2 - x - size / 2;
    this.pan.y += (this.height - this.covered) / 2 - y - size / 2;
    this.clamp();
  }

  /** Go back to where one was before a search looked closer; whether it did. */
  home() {
    if (!this.#before) return false;
    Object.assign(this, this.#before);
    this.#before = null;
    this.clamp();
    return true;
  }

  zoomBy(factor: number, x: number, y: number) {
    const next = Math.max(1, Math.min(ZOOM_MOST, this.zoom * factor));
    const scale = next / this.zoom;
    this.pan.x = x - (x - this.pan.x) * scale;
    this.pan.y = y - (y - this.pan.y) * scale;
    this.zoom = next;
    this.#before = null;
    this.clamp();
  }

  fit() {
    this.zoom = 1;
    this.pan = { x: 0, y: 0 };
    this.#before = null;
  }

  /** Keep the picture within the canvas, or above what covers it. */
  clamp() {
    const { width, height, zoom, pan, covered } = this;
    pan.x = Math.min(0, Math.max(width - width * zoom, pan.x));
    pan.y = Math.min(0, Math.max(height - covered - height * zoom, pan.y));
  }

  /** The nearest cell from a node in a direction, itself where there is none. */
  beside(node: number, dx: number, dy: number) {
    const x = this.cells[node * 2];
    const y = this.cells[node * 2 + 1];
    let nearest = Infinity;
    let next = node;
    for (let other = 0; this.has(other); other += 1) {
      const ax = this.cells[other * 2] - x;
      const ay = this.cells[other * 2 + 1] - y;
      const along = ax * dx + ay * dy;
      if (along <= 0.5) continue;
      const distance = along + 4 * (Math.abs(ax * dy) + Math.abs(ay * dx));
      if (distance < nearest) {
        nearest = distance;
        next = other;
      }
    }
    return next;
  }
}
