/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that are built into the page: its stylesheet and the glossary of the documents. */
#ifndef PHASEMUX_AGENT_PAGE_PAGE_FILES_H
#define PHASEMUX_AGENT_PAGE_PAGE_FILES_H

extern const char page_style[] __attribute__((visibility("hidden")));
extern const char page_glossary[] __attribute__((visibility("hidden")));

/* The stylesheet in the page's content policy: "sha256-" and its SHA-256 in base64. */
extern const char page_style_hash[];

#endif
