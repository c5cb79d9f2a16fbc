/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the class "rows" are sorted by a column and filtered by words. Positions in the source are copied. */

const SCALE = { ns: 1e-9, us: 1e-6, ms: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
const FILTER_FROM = 6; /* number of rows */

/* Returns the number at the start of a cell, in the base unit; NaN if there is none. "<0.1%" is less than "0.1%". */
function numberOf(text) {
	const found = /^(?:\+-)?(<?)([-+]?\d[\d.]*)(?: ?(ns|us|ms|[kMGTP])\b)?/.exec(text.trim());
	return found ? found[2] * (SCALE[found[3]] || 1) * (found[1] ? 0.5 : 1) : NaN;
}

/* Returns the rows sorted by a column: 2: the second one, up; -2: down. Numbers that are not known come last in both. */
function sortRows(rows, by) {
	const textOf = row => row.cells[abs(by) - 1].textContent, valueOf = row => numberOf(textOf(row));
	const numeric = rows.some(row => !isNaN(valueOf(row)));
	return [...rows].sort((one, other) => {
		const a = valueOf(one), b = valueOf(other);
		return !numeric ? by * textOf(one).localeCompare(textOf(other), "en", { numeric: true }) :
			isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : by * (a - b);
	});
}

/* Numbers start with the largest one, and text with the first one. A third click restores the order of the page. */
function addSorting(name, table, rows, own) {
	let by = 0; /* as of sortRows(); 0: the order of the page */
	const heads = [...table.rows[0].cells];
	const show = value => {
		by = +value;
		const head = heads[abs(by) - 1];
		table.tBodies[0].append(...head ? sortRows(own, by) : rows);
		for (const other of heads)
			other.ariaSort = other !== head ? null : by > 0 ? "ascending" : "descending";
		keep(name, head ? by : "");
	};
	heads.forEach((head, i) => {
		const first = head.className === "n" ? -1 - i : 1 + i;
		const sort = button("", () => show(by === first ? -first : by === -first ? 0 : first));
		sort.title = "sort by this column";
		sort.append(...head.childNodes);
		head.append(sort);
	});
	shows.set(name, [table, show]);
}

const choosePhases = words => shows.get("phases0.rows")?.[1](words);

/* Marks what belongs to other phases than these, and says that it is not shown. */
function showPhases(ids, count) {
	for (const mark of all("[data-phase]"))
		mark.classList.toggle("other", !ids.includes(mark.dataset.phase));
	find(".only")?.remove();
	if (ids.length < count)
		find("main").append(make("p", { className: "control only" }, `${ids.length} of ${count} phases are shown. `,
			button("show all", () => choosePhases(""))));
}

/*
 * Shows the rows that hold each of the words; "phase=1,3" is held by the rows of these phases. The table of phases
 * chooses phases for all of the page.
 */
function addFilter(name, table, rows) {
	const found = make("output"), input = make("input", { type: "search" });
	const show = text => {
		const words = text.toLowerCase().split(" ");
		const shown = rows.filter(row => {
			const holds = word => word.startsWith("phase=") ? word.slice(6).split(",").includes(row.dataset.phase) :
				row.textContent.toLowerCase().includes(word);
			return !row.classList.toggle("out", !words.every(holds));
		});
		input.value = text;
		found.textContent = shown.length < rows.length ? `${shown.length} of ${rows.length} rows` : "";
		if (table.closest("#phases"))
			showPhases(shown.map(row => row.dataset.phase), rows.length);
		keep(name, text);
	};
	input.oninput = () => show(input.value);
	(table.closest(".scroll") || table).before(controls(make("label", {}, "Rows with ", input), " ", found));
	shows.set(name, [table, show]);
}

function addTools(table) {
	const [, ...rows] = table.rows, own = rows.filter(row => row.className !== "sum");
	const section = table.closest("section"), name = section.id + all("table.rows", section).indexOf(table);
	if (own.length > 1)
		addSorting(name + ".sort", table, rows, own);
	if (own.length >= FILTER_FROM || own[1]?.dataset.phase)
		addFilter(name + ".rows", table, own);
}

all("table.rows").forEach(addTools);

/* If the browser does not allow that a position is copied, it is selected, so that a key copies it. */
for (const place of all("#source td code"))
	if (/:\d+$/.test(place.textContent)) {
		const act = button("copy", () => {
			getSelection().selectAllChildren(place);
			act.textContent = document.execCommand("copy") ? "copied" : "press Ctrl+C";
		});
		act.className = "control";
		act.ariaLabel = "copy " + place.textContent;
		place.after(" ", act);
	}
