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
const find = selector => document.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const sum = values => values.reduce((before, value) => before + value, 0);
const number = value => typeof value === "number" ? value : NaN;
const orZero = value => number(value) || 0;

function button(text, act) {
	return make("button", { type: "button", onclick: act }, text);
}

function controls(...children) {
	return make("p", { className: "control" }, ...children);
}
