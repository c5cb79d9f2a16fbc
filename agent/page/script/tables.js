/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the class "rows" are sorted by a column and filtered by words. Positions in the source are copied. */

const SCALE = { ns: 1e-9, us: 1e-6, ms: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
const FILTER_FROM = 6; /* number of rows */

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
	return isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : direction * (a - b);
}

/* A sum of rows names the rows below it, so it is shown only while these are all there and in the order of the page. */
function showSums(rows, shown) {
	for (const row of rows.filter(row => row.className === "sum"))
		row.hidden = !shown;
}

/* Sorts the rows by the column of a head, up (1) or down (-1); 0: they get the order of the page. */
function sortRows(rows, head, direction) {
	const cell = row => row.cells[head.cellIndex];
	const table = head.closest("table"), sorted = rows.filter(row => row.className !== "sum");
	const numeric = sorted.some(row => !isNaN(numberOf(cell(row))));
	sorted.sort((one, other) => compareCells(cell(one), cell(other), numeric, direction));
	table.tBodies[0].append(...direction ? sorted : rows);
	for (const other of table.rows[0].cells)
		other.ariaSort = null;
	head.ariaSort = direction > 0 ? "ascending" : direction < 0 ? "descending" : null;
	showSums(rows, !direction && !rows.some(row => row.hidden && row.className !== "sum"));
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

/* Shows the rows that hold each of the words, with the phases that they lead to. Returns their number. */
function filterRows(rows, words) {
	let count = 0;
	for (const row of rows) {
		const text = row.textContent.toLowerCase(), link = row.querySelector("#phases th a");
		row.hidden = !words.every(word => text.includes(word));
		count += !row.hidden;
		if (link)
			find(link.hash).hidden = row.hidden;
	}
	return count;
}

function addFilter(table, rows) {
	const own = rows.filter(row => row.className !== "sum");
	const found = make("output"), input = make("input", { type: "search" });
	input.oninput = () => {
		const count = filterRows(own, input.value.toLowerCase().split(" "));
		found.textContent = count < own.length ? `${count} of ${own.length} rows` : "";
		showSums(rows, count === own.length && !table.querySelector("[aria-sort]"));
	};
	(table.closest(".scroll") || table).before(controls(make("label", {}, "Rows with ", input), " ", found));
}

function addTools(table) {
	const [top, ...rows] = table.rows;
	if (rows.length > 1)
		addSorting(rows, top.cells);
	if (rows.length >= FILTER_FROM)
		addFilter(table, rows);
}

all("table.rows").forEach(addTools);

/* Copies the text of an element. If the browser does not allow that, it is selected, so that a key copies it. */
function copy(element, say) {
	getSelection().selectAllChildren(element);
	say(document.execCommand("copy") ? "copied" : "press Ctrl+C");
}

for (const place of all("#source td code"))
	if (/:\d+$/.test(place.textContent)) {
		const act = button("copy", () => copy(place, text => act.textContent = text));
		act.className = "control";
		act.ariaLabel = "copy " + place.textContent;
		place.after(" ", act);
	}
