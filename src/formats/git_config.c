/* SPDX-License-Identifier: MIT */
#include "formats/git_config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r");
}

/* `p` stands after the "[". Is it this section, without a subsection? */
static bool is_section(const char *p, const char *section)
{
	size_t length = strlen(section);
	p = skip_blanks(p);
	return strncasecmp(p, section, length) == 0 && *skip_blanks(p + length) == ']';
}

/* One escape after a backslash; a newline continues the value. Returns how many bytes it took. */
static size_t add_escape(struct text *value, const char *p)
{
	static const char from[] = "ntb", to[] = "\n\t\b";
	if (*p == '\0')
		return 0;
	if (*p == '\r' && p[1] == '\n')
		return 2;
	if (*p == '\n')
		return 1;
	const char *known = strchr(from, *p);
	text_add_bytes(value, known ? &to[known - from] : p, 1);
	return 1;
}

/* The value that begins at `p`, to the end of its (possibly continued) line. Quotes group, blanks
 * outside of them at the end do not count, # and ; outside of them begin a comment. */
static char *value_read(const char *p, const char **ret_end)
{
	struct text value = { 0 };
	size_t kept = 0;
	bool quoted = false, comment = false;
	for (; *p && (*p != '\n'); p++) {
		if (comment)
			continue;
		if (*p == '"') {
			quoted = !quoted;
			kept = value.length;
		} else if (*p == '\\') {
			p += add_escape(&value, p + 1);
			kept = value.length;
		} else if (!quoted && (*p == '#' || *p == ';')) {
			comment = true;
		} else {
			text_add_bytes(&value, p, 1);
			if (quoted || !isspace((unsigned char)*p))
				kept = value.length;
		}
	}
	*ret_end = p;
	value.length = kept;
	return text_take(&value);
}

char *git_config_value(const char *data, const char *section, const char *name)
{
	size_t length = strlen(name);
	char *found = NULL;
	bool inside = false;
	for (const char *p = data; *p;) {
		p = skip_blanks(p);
		if (*p == '[') {
			inside = is_section(p + 1, section);
		} else if (inside && strncasecmp(p, name, length) == 0) {
			const char *after = skip_blanks(p + length);
			if (*after == '=') {
				free(found);
				found = value_read(skip_blanks(after + 1), &p);
			}
		}
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return found;
}

char *git_config_quote(const char *value)
{
	struct text quoted = { 0 };
	text_add(&quoted, "\"");
	for (; *value; value++) {
		if (*value == '\n')
			text_add(&quoted, "\\n");
		else if (*value == '"' || *value == '\\')
			text_format(&quoted, "\\%c", *value);
		else
			text_add_bytes(&quoted, value, 1);
	}
	text_add(&quoted, "\"");
	return text_take(&quoted);
}
