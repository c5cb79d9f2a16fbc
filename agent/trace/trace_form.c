/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/trace/trace_form.h"

#include "agent/report/parts/document.h"

json_t *trace_form_path(const json_t *path, trace_form *values, trace_form *others)
{
	json_t *object = json_object(), *list;
	const json_t *member, *each;
	const char *key;
	size_t i;

	json_object_foreach ((json_t *)path, key, member) {
		if (!json_is_array(member)) {
			object = document_set(object, key, others(member));
			continue;
		}
		list = json_array();
		json_array_foreach (member, i, each)
			list = document_append(list, values(each));
		object = document_set(object, key, list);
	}
	return object;
}
