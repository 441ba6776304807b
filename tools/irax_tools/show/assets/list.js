// A list of which only the rows in sight are in the document: thousands cost no more than a few.

const ROW = 20;
const BEYOND = 20;

class VirtualList {
  // `html(row)` is what is in a row; `attributes(row, index, current)` are the row's own, `current`
  // being a class of the one that keys move. Ids of rows are `name` and their places.
  constructor(element, name, html, attributes) {
    Object.assign(this, { element, name, html, attributes, rows: [], current: 0, from: -1, to: -1 });
    element.innerHTML = '<div class="all" role="presentation"><div class="some" role="presentation"></div></div>';
    [this.all] = element.children;
    [this.some] = this.all.children;
    element.addEventListener("scroll", () => this.render());
    new ResizeObserver(() => this.render()).observe(element);
  }

  // Keeps the row at the top where it is, if it is still there: `same` finds it.
  setRows(rows, columns, same) {
    const top = this.rows[Math.floor(this.element.scrollTop / ROW)];
    const offset = this.element.scrollTop % ROW;
    this.rows = rows;
    this.all.style.height = `${rows.length * ROW}px`;
    this.all.style.minWidth = `${columns}ch`;
    const found = top && same ? rows.findIndex((row) => same(row, top)) : -1;
    if (found > 0) this.element.scrollTop = found * ROW + offset;
    this.current = Math.max(0, Math.min(this.current, rows.length - 1));
    this.refresh();
  }

  refresh() {
    this.from = -1;
    this.render();
  }

  render() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / ROW) + BEYOND);
    if (this.printing || (first >= this.from && last <= this.to && this.from >= 0)) return;
    this.show(first, last);
  }

  show(first, last) {
    [this.from, this.to] = [first, last];
    this.some.style.transform = `translateY(${first * ROW}px)`;
    this.some.innerHTML = this.rows.slice(first, last).map((row, i) => {
      const index = first + i, current = index === this.current ? " current" : "";
      return `<div id="${this.name}${index}" data-index="${index}" ${this.attributes(row, index, current)}>${this.html(row)}</div>`;
    }).join("");
    this.element.setAttribute("aria-activedescendant", `${this.name}${this.current}`);
    this.onshow?.();
  }

  // All rows, for paper.
  print(all) {
    this.printing = all;
    if (all) this.show(0, this.rows.length);
    else this.refresh();
  }

  moveTo(index, center) {
    this.current = Math.max(0, Math.min(index, this.rows.length - 1));
    const top = this.current * ROW, { scrollTop, clientHeight } = this.element;
    const inSight = top >= scrollTop + ROW && top + 2 * ROW <= scrollTop + clientHeight;
    if (!inSight) {
      const above = center ? clientHeight / 3 : top < scrollTop + ROW ? 2 * ROW : clientHeight - 3 * ROW;
      this.element.scrollTop = Math.max(0, top - above);
    }
    this.refresh();
  }

  get page() {
    return Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
  }
}

// A list whose rows are as high as their text: all of them are in the document.
class WrappedList extends VirtualList {
  constructor(element, ...how) {
    super(element, ...how);
    element.classList.add("wrapped");
  }

  setRows(rows) {
    this.rows = rows;
    this.current = Math.max(0, Math.min(this.current, rows.length - 1));
    this.refresh();
  }

  render() {
    if (this.from < 0) this.show(0, this.rows.length);
  }

  moveTo(index, center) {
    this.current = Math.max(0, Math.min(index, this.rows.length - 1));
    this.refresh();
    const row = this.some.children[this.current]?.getBoundingClientRect();
    const pane = this.element.getBoundingClientRect();
    if (!row || (row.top >= pane.top && row.bottom <= pane.bottom)) return;
    this.element.scrollTop += row.top - pane.top - (center ? pane.height / 3 : ROW);
  }
}
