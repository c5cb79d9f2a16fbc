/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares with a second result, by the rules and with the intervals of `phasemux compare` (tools/compare). */

const mean = phase => number(phase.duration_seconds?.mean);
const counter = (phase, place) => phase.ipc > 0 ? Object.values(phase.counters ?? {})[place] ?? {} : {};
const apart = (one, other) => one > 0 && other > 0 ? abs(Math.log10(one / other)) : 0;
const add = (before, value, error) => ({ value: before.value + value, error: hypot(before.error, error) });

/* A run: times are those of a thread in the mean (run.c). */
function readRun(report, name) {
	const phases = report.phases.slice(0, 256).filter(phase => phase instanceof Object);
	const threads = [report.threads_mean, report.threads, report.ranks].find(count => count > 0) ?? 1;
	const compute = report.compute_seconds ?? sum(phases.map(phase => phase.bursts * mean(phase) || 0));
	const useful = report.efficiency?.parallel * report.wall_seconds;
	return { report, name, phases, threads, useful: useful > 0 ? useful : compute / threads };
}

/* Sums up phases, for times and CPI with half-widths of 95% intervals. */
function sumUp(run, phases) {
	const none = { value: 0, error: 0 };
	let time = none, length = none, bursts = 0, work = 0, cycles = none, sliced = !phases.length;
	for (const phase of phases) {
		const share = run.useful * number(phase.time_share), count = number(phase.bursts);
		const varies = hypot(orZero(phase.duration_seconds?.ci95),
			1.96 * orZero(phase.duration_seconds?.sd) / Math.sqrt(max(count, 1)));
		const [one, two] = [counter(phase, 0), counter(phase, 1)], ticks = number(one.mean) * count;
		time = add(time, share, hypot(run.useful * orZero(phase.time_share_ci95), share * varies / mean(phase) || 0));
		length = add(length, mean(phase) * count, varies * count);
		cycles = add(cycles, ticks, ticks * hypot(orZero(one.ci95) / one.mean, orZero(two.ci95) / two.mean));
		bursts += count;
		work += number(two.mean) * count;
		sliced ||= 2 * phase.slices > phase.read;
	}
	const part = (whole, by) => ({ value: whole.value / by, error: whole.error / by });
	return { time, duration: part(length, sliced ? NaN : bursts), cpi: part(cycles, phases.length ? work : NaN) };
}

/* Returns how alike one end of two pairs of places is, from 0 to 1 (match.c). */
function endsAlike(one, other, end) {
	const differ = key => (one[end + key] ?? "?") !== (other[end + key] ?? "?");
	const module = pair => `${pair[end]}`.split(/[+:]/)[0];
	const path = pair => (pair[end + "_path"] ?? []).map(frame => frame?.function ?? "?").join("\n");
	if (differ("_call") || differ("_function") || one[end + "_function"] === "" && module(one) !== module(other))
		return 0;
	return (differ("") ? 0.8 : 1) * (path(one) === path(other) ? 1 : 0.9);
}

/* Returns how alike the places of two phases are, from 0 to 1; -1 if one is not known. */
function placesAlike(one, other) {
	const pairs = phase => (phase.source ?? []).slice(0, 8);
	const share = pair => max(orZero(pair.share), 0);
	const [whole, others] = [one, other].map(phase => sum(pairs(phase).map(share)));
	if (!(whole > 0 && others > 0))
		return -1;
	return min(1, sum(pairs(one).map(a => max(0, ...pairs(other).map(b =>
		endsAlike(a, b, "from") * endsAlike(a, b, "to") * min(share(a) / whole, share(b) / others))))));
}

/* Returns how far apart the bursts of two phases are, in decades. */
function distance(one, other) {
	const a = counter(one, 1).mean, b = counter(other, 1).mean;
	return a > 0 && b > 0 ? hypot(apart(a, b), apart(one.ipc, other.ipc)) : apart(mean(one), mean(other));
}

/* Returns groups of phases, each of the same phase before and after. */
function matchPhases(before, after) {
	const group = new Map();
	const members = ({ before, after }) => [...before, ...after];
	const join = (old, now, loose) => {
		const [a, b] = [group.get(old), group.get(now)];
		const both = { before: [...a.before, ...b.before], after: [...a.after, ...b.after], loose: a.loose || b.loose || loose };
		for (const phase of members(both))
			group.set(phase, both);
	};
	for (const [side, { phases }] of Object.entries({ before, after }))
		for (const phase of phases)
			group.set(phase, { before: [], after: [], [side]: [phase] });
	const single = phase => members(group.get(phase)).length < 2;
	const pairUp = (likeness, loose) => {
		const pairs = [];
		for (const now of after.phases.filter(single))
			for (const old of before.phases.filter(single))
				pairs.push({ old, now, alike: likeness(old, now) });
		for (const { old, now } of pairs.filter(pair => pair.alike > 0).sort((a, b) => b.alike - a.alike))
			if (single(old) && single(now))
				join(old, now, loose || placesAlike(old, now) < 0);
	};
	pairUp((old, now) => {
		const place = placesAlike(old, now);
		const far = hypot(distance(old, now), apart(old.bursts / before.threads, now.bursts / after.threads) / 2) / 0.3;
		return place < 0 ? (far < 1 ? 0.3 / (1 + far * far) : 0) :
			place < 0.4 ? 0 : place * (0.2 + 0.8 / (1 + far * far));
	});
	pairUp((old, now) => {
		const [a, b] = [old, now].map(phase => phase.source?.[0]), far = distance(old, now);
		const same = !a || !b || ["from_call", "to_call"].every(key => a[key] === b[key]);
		return far < 0.08 && same ? 1 / (1 + far) : 0;
	}, true);
	/* a run may have a phase in parts */
	const addParts = (phases, wholes, unite) => {
		for (const phase of phases) {
			const near = wholes.map(whole => ({ whole, far: distance(whole, phase) }))
				.filter(({ whole, far }) => far < 0.3 && placesAlike(whole, phase) >= 0.4);
			if (near.length)
				unite(near.reduce((a, b) => b.far < a.far ? b : a).whole, phase);
		}
	};
	const olds = before.phases.filter(single), news = after.phases.filter(single);
	addParts(news, before.phases, join);
	addParts(olds, after.phases, (whole, part) => join(part, whole));
	return [...new Set(group.values())];
}

/* Returns a time as the page writes it (agent/text/format.c). */
function seconds(value) {
	const units = ["ns", "us", "ms", "s"];
	let unit = 0;
	for (value *= 1e9; unit < 3 && abs(value) >= 999.5; unit++)
		value /= 1000;
	const size = abs(value);
	return isFinite(value) ? `${value.toFixed(size >= 99.95 || !size ? 0 : size >= 9.995 ? 1 : 2)} ${units[unit]}` : "-";
}

/* Returns a difference in words; "-" if it is not known. */
function changeOf(before, after, format) {
	const change = after.value - before.value, error = hypot(before.error, after.error);
	if (!isFinite(change))
		return "-";
	if (!change && !error)
		return "no difference";
	if (isFinite(error) && !(abs(change) > error))
		return `not told apart (+- ${format(error)})`;
	const share = before.value > 0 ? ` (${change < 0 ? "" : "+"}${(100 * change / before.value).toFixed(1)}%)` : "";
	return `${change < 0 ? "-" : "+"}${format(abs(change))} +- ${format(error)}${share}`;
}

function phaseRow(group, before, after) {
	const [old, now] = [sumUp(before, group.before), sumUp(after, group.after)];
	const ids = phases => {
		const own = phases.map(phase => phase.id).sort((a, b) => a - b), more = own.length - 2;
		return own.slice(0, 2).join("+") + (more > 0 ? ` and ${more} more` : "");
	};
	const pair = [...group.after, ...group.before][0].source?.[0] ?? {};
	const place = end => [end, pair[end + "_call"], pair[end + "_function"] && "in " + pair[end + "_function"],
		`${pair[end] ?? "?"}`.split("/").pop()].filter(Boolean).join(" ");
	const cell = (text, className = "") => make("td", { className }, `${text}`);
	const both = group.before.length && group.after.length;
	const row = make("tr", {}, make("th", { scope: "row" }, both ? `${ids(group.after)} (was ${ids(group.before)})` :
		group.after.length ? `${ids(group.after)} (new)` : `${ids(group.before)} (before, vanished)`),
		cell(seconds(old.time.value), "n"), cell(seconds(now.time.value), "n"), cell(changeOf(old.time, now.time, seconds), "d"),
		cell(changeOf(old.duration, now.duration, seconds), "d"), cell(changeOf(old.cpi, now.cpi, value => value.toFixed(3)), "d"),
		cell(place("from") + " " + place("to") + (group.loose ? " (matched by its behaviour)" : "")));
	return { row, time: max(old.time.value, now.time.value) };
}

/* Shows what has changed, in place of an earlier comparison. */
function showComparison(before, after) {
	const rows = matchPhases(before, after).map(group => phaseRow(group, before, after))
		.sort((one, other) => other.time - one.time).map(({ row }) => row);
	const heads = ["phase", "time before", "time after", "difference", "mean duration", "CPI", "place"].map((text, i) =>
		make("th", { scope: "col", className: i === 1 || i === 2 ? "n" : "" }, text));
	const table = make("table", { className: "rows" }, make("tbody", {}, make("tr", {}, ...heads), ...rows));
	const unlike = ["ranks", "threads", "processor", "model", "emulated"].filter(key =>
		JSON.stringify(before.report[key]) !== JSON.stringify(after.report[key]));
	const wall = [before, after].map(run => seconds(number(run.report.wall_seconds)));
	const section = make("section", { id: "compared" },
		make("h2", {}, `${after.name} compared with ${before.name}`),
		make("p", {}, `Wall time: ${wall[0]} before, ${wall[1]} after. `,
			unlike.length ? `The runs differ in: ${unlike.join(", ")}.` : ""),
		make("div", { className: "scroll", tabIndex: 0 }, table),
		make("p", { className: "note" }, "Times are those of a thread, in the mean. Duration and CPI are differences. The 95% " +
			"intervals hold what varies from burst to burst, not from run to run. \"phasemux compare\" takes several runs, " +
			"and says what the differences come from."),
		controls(button("swap", () => showComparison(after, before))));
	addTools(table);
	find("#compared")?.remove();
	find("main").prepend(section);
	section.scrollIntoView();
}

const report = dataIn(find("#report-data"));

if (report.phasemux) {
	const said = make("output"), input = make("input", { type: "file" });
	const compareWith = async ([file]) => {
		if (!file)
			return;
		try {
			const text = await file.text(); /* a page or report.json */
			const other = /^\s*</.test(text) ? dataIn(find("#report-data", new DOMParser().parseFromString(text, "text/html"))) :
				JSON.parse(text);
			if (other.phasemux !== 1)
				throw Error();
			said.textContent = "";
			showComparison(readRun(report, "this page"), readRun(other, file.name));
		} catch {
			said.textContent = `${file.name} is no report.json or page of phasemux.`;
		}
	};
	input.onchange = () => compareWith(input.files);
	find("header").append(controls(make("label", {}, "Compare with another result: ", input), " or drop its report.json or page here. ", said));
	addEventListener("dragover", event => event.preventDefault());
	addEventListener("drop", event => {
		event.preventDefault();
		compareWith(event.dataTransfer.files);
	});
}
