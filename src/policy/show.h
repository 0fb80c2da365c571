/* SPDX-License-Identifier: MIT */
/*
 * Settings for people. Whatever a file says reaches the terminal only through text_add_visible or
 * as a JSON string, so that it cannot act on the terminal.
 */
#pragma once

#include "base/text.h"
#include "policy/layers.h"
#include "policy/policy.h"

/* All settings as a YAML document; those without a value as comments. With `origins` each value is
 * followed by where it came from. */
void policy_show(const struct policy *policy, bool origins, struct text *ret_text);

/* The values of one key, one a line; nothing when it has none. */
void policy_show_key(
	const struct policy *policy, enum key key, bool origins, struct text *ret_text);

/* What the project's file asks for, in words and line by line, against the layers below it; and
 * what is different from what was accepted before. */
int project_show(const struct layers_request *request, const struct project *project,
	struct text *ret_text, struct err *e);
