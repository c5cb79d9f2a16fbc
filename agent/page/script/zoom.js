/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures with a group of the class "plot" can show a part of its width. The hash of the address keeps which one. */

const SVG = "http://www.w3.org/2000/svg";
const NARROWEST = 0.002; /* part of the width */
const DRAG_MIN = 5; /* pixels */
const views = new Map(); /* by name: the part that is shown, from `low` to `high`, and the figures that show it */

const place = (element, name) => parseFloat(element.getAttribute(name));

function makeSvg(tag, attributes) {
	const element = document.createElementNS(SVG, tag);
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
	const name = part => (part?.querySelector("title") ?? part?.parentNode.querySelector("title"))
		?.textContent.split(/[:,]/)[0];
	figure.note.textContent = zoom === 1 ? "" : `This is a part of the figure: ${name(parts[0])} to ${name(parts.at(-1))}.`;
}

function setView(view, low, high) {
	const size = min(max(high - low, NARROWEST), 1);
	view.low = min(max(low, 0), 1 - size);
	view.high = view.low + size;
	for (const figure of view.figures)
		drawPart(figure, view.low, view.high);
}

function keepViews() {
	const kept = [...views].filter(([, view]) => view.high - view.low < 1)
		.map(([name, view]) => `${name}=${view.low.toFixed(4)}-${view.high.toFixed(4)}`);
	try {
		history.replaceState(null, "", "#" + kept.join("&"));
	} catch { /* some frames have no address of their own */ }
}

function readViews() {
	for (const [, name, low, high] of location.hash.matchAll(/(\w+)=([\d.]+)-([\d.]+)/g))
		if (views.has(name) && +low < +high) {
			setView(views.get(name), +low, +high);
			views.get(name).figures[0].svg.scrollIntoView({ block: "center" });
		}
}

/* Zooms around the middle by a factor, and moves by a part of what is shown. */
function change(view, factor, move) {
	const size = view.high - view.low, middle = view.low + size * (0.5 + move);
	setView(view, middle - size * factor / 2, middle + size * factor / 2);
	keepViews();
}

const ACTIONS = [["zoom in", 0.5, 0, "+="], ["zoom out", 2, 0, "-_"], ["left", 1, -0.25, "ArrowLeft"],
	["right", 1, 0.25, "ArrowRight"], ["all", 1 / NARROWEST, 0, "0"]];

function addButtons(view, figure) {
	const bar = controls();
	for (const [text, factor, move, keys] of ACTIONS) {
		bar.append(button(text, () => change(view, factor, move)), " ");
		figure.svg.addEventListener("keydown", event => {
			if (!keys.includes(event.key) || event.ctrlKey || event.altKey || event.metaKey)
				return;
			event.preventDefault();
			change(view, factor, move);
		});
	}
	bar.append("or drag over the figure (with Shift: move); keys + - \u2190 \u2192 0");
	figure.note = make("p", { className: "note", role: "status" });
	figure.svg.after(bar, figure.note);
	figure.svg.tabIndex = 0;
}

/* Dragging chooses what is shown, or with Shift moves it. */
function addDragging(view, figure) {
	const { svg, left, width } = figure, brush = makeSvg("rect", { class: "brush", height: "100%" });
	let start = null;
	const partAt = event => {
		const box = svg.getBoundingClientRect();
		const part = ((event.clientX - box.left) / box.width * 100 - left) / width;
		return start?.low + min(max(part, 0), 1) * (start?.high - start?.low);
	};
	svg.addEventListener("pointerdown", event => {
		if (event.button !== 0)
			return;
		start = { x: event.clientX, low: view.low, high: view.high, moves: event.shiftKey };
		start.at = partAt(event);
		svg.setPointerCapture(event.pointerId);
		event.preventDefault();
		svg.focus({ preventScroll: true });
	});
	svg.addEventListener("pointermove", event => {
		if (!start)
			return;
		const at = partAt(event), toX = part => left + width * (part - start.low) / (start.high - start.low);
		if (start.moves)
			return setView(view, start.low + start.at - at, start.high + start.at - at);
		brush.setAttribute("x", toX(min(at, start.at)) + "%");
		brush.setAttribute("width", toX(max(at, start.at)) - toX(min(at, start.at)) + "%");
		svg.append(brush);
	});
	svg.addEventListener("pointerup", event => {
		if (start && !start.moves && abs(event.clientX - start.x) >= DRAG_MIN) {
			const at = partAt(event);
			setView(view, min(at, start.at), max(at, start.at));
		}
		keepViews();
		start = null;
		brush.remove();
	});
}

for (const plot of all("g.plot")) {
	const { view: name, left, width } = plot.dataset;
	const figure = { plot, svg: plot.closest("svg"), left: +left, width: +width };
	if (!views.has(name))
		views.set(name, { low: 0, high: 1, figures: [] });
	views.get(name).figures.push(figure);
	addButtons(views.get(name), figure);
	addDragging(views.get(name), figure);
}
readViews();
addEventListener("hashchange", readViews);
