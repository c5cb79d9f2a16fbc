/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the class "rows" are sorted by a column. */

const SCALE = { ns: 1e-9, us: 1e-6, ms: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/* Returns the number at the start of a cell, in the base unit; NaN if there is none. "<0.1%" is less than "0.1%". */
function numberOf(cell) {
	const found = /^(?:\+-)?(<?)([-+]?\d[\d.]*)(?: ?(ns|us|ms|[kMGTP])\b)?/.exec(cell.textContent.trim());
	return found ? found[2] * (SCALE[found[3]] || 1) * (found[1] ? 0.5 : 1) : NaN;
}

/* Compares two cells of a column. Numbers that are not known come last in both directions. */
function compareCells(one, other, numeric, direction) {
	if (!numeric)
		return direction * one.textContent.localeCompare(other.textContent, "en", { numeric: true });
	const a = numberOf(one), b = numberOf(other);
	return Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : direction * (a - b);
}

/* Sorts the rows by the column of a head, up (1) or down (-1); 0: they get the order of the page. */
function sortRows(rows, head, direction) {
	const cell = row => row.cells[head.cellIndex];
	const table = rows[0].closest("table"), sorted = rows.filter(row => row.className !== "sum");
	const numeric = sorted.some(row => !Number.isNaN(numberOf(cell(row))));
	sorted.sort((one, other) => compareCells(cell(one), cell(other), numeric, direction));
	table.tBodies[0].append(...direction ? sorted : rows);
	for (const row of rows) /* a sum of the rows below it holds only in the order of the page */
		row.hidden = row.className === "sum" && direction !== 0;
	for (const other of table.rows[0].cells)
		other.ariaSort = null;
	head.ariaSort = direction > 0 ? "ascending" : direction < 0 ? "descending" : null;
}

/* Numbers start with the largest one, and text with the first one. A third click restores the order of the page. */
function nextDirection(head) {
	const first = head.className === "n" ? -1 : 1;
	const now = { ascending: 1, descending: -1 }[head.ariaSort] ?? 0;
	return now === 0 ? first : now === first ? -first : 0;
}

function addSorting(rows, heads) {
	for (const head of heads) {
		const sort = button("", () => sortRows(rows, head, nextDirection(head)));
		sort.title = "sort by this column";
		sort.append(...head.childNodes);
		head.append(sort);
	}
}

for (const table of document.querySelectorAll("table.rows")) {
	const [top, ...rows] = table.rows;
	if (rows.length > 1)
		addSorting(rows, top.cells);
}
