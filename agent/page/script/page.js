/* SPDX-License-Identifier: BSD-3-Clause */
"use strict";
/*
 * The page is complete without this script. What the script adds has the class "control", or is in an element that has
 * it. All text enters the page as text, because names in a report may hold anything.
 */

/* Returns a new element. A child is a text or an element. */
function make(tag, properties, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

const { abs, hypot, max, min } = Math;
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const sum = values => values.reduce((before, value) => before + value, 0);
const number = value => typeof value === "number" ? value : NaN;
const orZero = value => number(value) || 0;
const dataIn = element => JSON.parse(element.textContent);

function button(text, act) {
	return make("button", { type: "button", onclick: act }, text);
}

function controls(...children) {
	return make("p", { className: "control" }, ...children);
}

const shows = new Map(); /* by the name of what the address keeps: [element, function that shows a value of it] */
const kept = new URLSearchParams();

/* Keeps a value in the hash of the address; "": nothing. Browsers allow few changes of it in a second. */
function keep(name, value) {
	value ? kept.set(name, value) : kept.delete(name);
	clearTimeout(kept.timer);
	kept.timer = setTimeout(() => {
		try {
			history.replaceState(null, "", "#" + kept);
		} catch { /* some frames have no address of their own */ }
	}, 50);
}

/* Shows what the address keeps. */
function restore() {
	for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
		const [element, show] = shows.get(name) ?? [];
		show?.(value);
		element?.scrollIntoView({ block: "nearest" });
	}
}
