/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wall time would be after a change that sliders choose, by the rules of `phasemux whatif` (agent/whatif). */

/*
 * Returns the wall time after a change: between two times, with the half-width of both (foresee.c). calls: the factor of the
 * time of communication.
 */
function foresee(run, change, balanced, calls) {
	let saved = 0, error = 0;
	const inSet = (cell, set) => sum(set.phases.map(p => cell[p] * change[p].factor));
	for (const set of run.sets) {
		set.shared = sum(set.phases.map(p => run.phases[p].all * change[p].factor)) / run.ranks;
		const gain = set.most - (balanced ? set.shared : set.scale * most(run.cells.map(cell => inSet(cell, set))));
		error = hypot(error, gain * set.error, ...set.phases.map(p => change[p].error * run.phases[p].most));
		saved += gain;
	}
	const bound = most(run.cells.map(cell => (balanced ? run.rest : cell.at(-1)) +
		sum(run.sets.map(set => balanced ? set.shared : inSet(cell, set)))));
	const least = balanced ? 0 : min(calls, ...change.map(({ factor }) => factor));
	const [atPhases, atEnd] = run.communication.map(time => (1 - calls) * time);
	const times = [max(run.wall - saved * run.threads - atPhases, bound, run.wall * least),
		max(run.wall - run.useful - atEnd, 0) + bound];
	return { least: min(...times), most: max(...times), error, bound };
}

function addSliders(run) {
	const names = Object.keys(run.components), said = make("output"), balance = make("input", { type: "checkbox" });
	const slider = (what, options) => {
		const choice = make("select", {}, ...options.map(option => make("option", {}, `${option}`)));
		const range = make("input", { type: "range", max: 100, step: 5, value: 100 }), share = make("output");
		choice.ariaLabel = what;
		range.ariaLabel = `${what}: percent of now`;
		return { choice, range, share, line: make("p", {}, `${what} `, options.length ? choice : "", " takes ", range, " ", share) };
	};
	const component = slider("component", names), phase = slider("phase", run.phases.map(({ id }) => id)), communication = slider("communication", []);
	const show = () => {
		const [cycles, time, calls] = [component, phase, communication].map(({ range, share }) => {
			share.textContent = range.value + "% of now";
			return range.value / 100;
		});
		const change = run.phases.map(({ id }, p) => {
			const [part, error] = run.components[component.choice.value]?.[p] ?? [0, 0];
			const factor = id === +phase.choice.value ? time : 1;
			return { factor: factor * (1 - (1 - cycles) * part), error: factor * (1 - cycles) * error };
		});
		const { least, most, error, bound } = foresee(run, change, balance.checked, calls);
		const percent = value => +(100 - 100 * value / run.wall).toFixed(1);
		const between = (low, high) => low === high ? low : `${low} to ${high}`;
		const width = error < 1e-4 * run.wall ? "" : ` (+- ${seconds(error)})`;
		said.textContent = cycles * time * calls === 1 && !balance.checked ? "Nothing is changed." :
			`The run would take ${between(seconds(least), seconds(most))}${width} instead of ${seconds(run.wall)}: ${between(percent(most), percent(least))}% less. It cannot take less than ${seconds(bound)}.`;
	};
	const box = make("div", { className: "control", oninput: show }, make("h3", {}, "Try a change"),
		names.length ? component.line : "", phase.line, run.communication[1] ? communication.line : "",
		run.ranks > 1 && run.threads <= 1 ?
			make("p", {}, make("label", {}, balance, " all ranks share the work of each phase alike")) : "", said);
	find("#outlook").append(box);
	show();
}

const most = values => max(0, ...values);
const times = find("#whatif-data");
if (times)
	addSliders(dataIn(times));
