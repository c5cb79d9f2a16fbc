/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures with a group of the class "plot" can show a part of its width, which the address keeps. In the figures of bursts,
 * dragging chooses phases.
 */

const NARROWEST = 0.002; /* part of the width */
const DRAG_MIN = 0.005; /* part of the width */
const views = new Map(); /* by name: the part that is shown, from `low` to `high`, and the figures that show it */

const place = (element, name) => parseFloat(element.getAttribute(name));

function makeSvg(tag, attributes) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	return element;
}

/* Shows a part of a figure. The plot lies in an <svg> as wide as all of it, and this in one that cuts it off. */
function drawPart(figure, low, high) {
	const { plot, left, width } = figure, zoom = 1 / (high - low);
	if (!figure.inner) {
		const outer = makeSvg("svg", { x: left + "%", width: width + "%", height: "100%" });
		figure.inner = makeSvg("svg", { height: "100%" });
		plot.before(outer);
		outer.append(figure.inner);
		figure.inner.append(plot);
	}
	figure.inner.setAttribute("x", -100 * zoom * (left / width + low) + "%");
	figure.inner.setAttribute("width", 1e4 * zoom / width + "%");
	const pixels = figure.svg.clientWidth / 100 * zoom;
	for (const label of all("text", plot)) { /* with room in its column, and not cut off at an edge */
		const at = (place(label, "x") - left) / width, size = 8 * label.textContent.length + 2;
		const fits = (label.dataset.room ?? 100) * pixels > size &&
			min(at - low, high - at) * width * pixels > size / 2;
		label.style.display = zoom === 1 ? "" : fits ? "inline" : "none";
	}
	const parts = all("rect[x]", plot).filter(part => {
		const start = (place(part, "x") - left) / width;
		const edge = 0.003 / zoom; /* that much of a column at the edge is not seen */
		return start < high - edge && start + place(part, "width") / width > low + edge;
	});
	const name = part => part?.closest(":has(> title)").querySelector("title").textContent.split(/[:,]/)[0];
	figure.note.textContent = zoom === 1 ? "" : `This is a part of the figure: ${name(parts[0])} to ${name(parts.at(-1))}.`;
}

function setView(view, low, high) {
	const size = min(max(high - low, NARROWEST), 1);
	view.low = min(max(low, 0), 1 - size);
	view.high = view.low + size;
	for (const figure of view.figures)
		drawPart(figure, view.low, view.high);
	keep(view.name, size < 1 ? `${view.low.toFixed(4)}-${view.high.toFixed(4)}` : "");
}

/* Zooms around the middle by a factor, and moves by a part of what is shown. */
function change(view, factor, move) {
	const size = view.high - view.low, middle = view.low + size * (0.5 + move);
	setView(view, middle - size * factor / 2, middle + size * factor / 2);
}

const ACTIONS = [["zoom in", 0.5, 0, "+="], ["zoom out", 2, 0, "-_"], ["left", 1, -0.25, "ArrowLeft"],
	["right", 1, 0.25, "ArrowRight"], ["all", 1 / NARROWEST, 0, "0"]];

function addButtons(view, figure) {
	const bar = controls();
	for (const [text, factor, move] of ACTIONS)
		bar.append(button(text, () => change(view, factor, move)), " ");
	figure.svg.onkeydown = event => {
		const [, factor, move] = ACTIONS.find(action => action[3].includes(event.key)) ?? [];
		if (factor && !(event.ctrlKey || event.altKey || event.metaKey)) {
			event.preventDefault();
			change(view, factor, move);
		}
	};
	bar.append("or drag over the figure (with Shift: move); keys +, -, \u2190, \u2192, 0");
	figure.note = make("p", { className: "note", role: "status" });
	figure.svg.after(bar, figure.note);
	figure.svg.tabIndex = 0;
}

/*
 * Dragging over a figure chooses a rectangle: choose([left, right, top, bottom]), of which left and right are parts of the
 * plot's width, and the others are pixels. Dragging with Shift moves what is shown: move(part of the width).
 */
function addDragging({ svg, left, width }, choose, move) {
	let start = null, area = null, brush = null;
	const placeOf = event => {
		const box = svg.getBoundingClientRect(), part = ((event.clientX - box.left) / box.width * 100 - left) / width;
		return [min(max(part, 0), 1), event.clientY - box.top];
	};
	svg.onpointerdown = event => {
		if (event.button)
			return;
		start = placeOf(event);
		svg.setPointerCapture(event.pointerId);
		event.preventDefault();
		svg.focus({ preventScroll: true });
	};
	svg.onpointermove = event => {
		if (!start)
			return;
		const [x, y] = placeOf(event), [fromX, fromY] = start;
		if (move && event.shiftKey) {
			move(fromX - x);
			start = [x, y];
			return;
		}
		area = [min(x, fromX), max(x, fromX), min(y, fromY), max(y, fromY)];
		brush?.remove();
		brush = makeSvg("rect", { class: "brush", x: left + width * area[0] + "%", width: width * (area[1] - area[0]) + "%",
			y: area[2], height: area[3] - area[2] });
		svg.append(brush);
	};
	svg.onpointerup = () => {
		brush?.remove();
		if (area && area[1] - area[0] > DRAG_MIN)
			choose(area);
		start = area = null;
	};
}

for (const plot of all("g.plot")) {
	const { view: name, left, width } = plot.dataset;
	const figure = { plot, svg: plot.closest("svg"), left: +left, width: +width };
	if (!views.has(name))
		views.set(name, { name, low: 0, high: 1, figures: [] });
	const view = views.get(name);
	view.figures.push(figure);
	addButtons(view, figure);
	addDragging(figure, ([low, high]) => change(view, high - low, (low + high) / 2 - 0.5), part => change(view, 1, part));
	shows.set(name, [view.figures[0].svg, value => {
		const [low, high] = value.split("-");
		if (+low < +high)
			setView(view, +low, +high);
	}]);
}

/* Dragging over bursts chooses their phases for all of the page. */
for (const frame of all(".bursts .track")) {
	const svg = frame.parentNode, [left, width, top, height] = ["x", "width", "y", "height"].map(name => place(frame, name));
	addDragging({ svg, left, width }, ([low, high, upper, lower]) => {
		const has = path => {
			let x = 0, y = 0; /* thousandths of the plot */
			return [...path.getAttribute("d").matchAll(/(-?\d+) ?(-?\d+)h/g)].some(([, across, down]) => {
				x += +across;
				y += +down;
				const at = top + height * y / 1000;
				return x >= 1000 * low && x <= 1000 * high && at >= upper && at <= lower;
			});
		};
		const phases = all("path[data-phase]", svg).filter(has).map(path => path.dataset.phase);
		choosePhases(phases.length ? "phase=" + phases : "");
	});
	svg.after(controls("drag over bursts to see only their phases"));
}
restore();
addEventListener("hashchange", restore);
