/* SPDX-License-Identifier: MIT */
#include "supervisor/modes.h"

#include <string.h>

/* Modes that outlast a program badly. `on` is the state that a terminal starts with. */
static const struct mode {
	bool private; /* CSI ? n h */
	bool on;
	bool alternate; /* shows the alternate screen */
	unsigned number;
} table[] = {
	{ true, false, true, 1049 }, { true, false, true, 1047 }, { true, false, true, 47 },
	{ true, false, false, 1 },  /* application cursor keys */
	{ true, false, false, 5 },  /* reverse video */
	{ true, false, false, 6 },  /* origin at the scroll region */
	{ true, true, false, 7 },   /* automatic wrap */
	{ true, true, false, 8 },   /* automatic repeat */
	{ true, false, false, 9 },  /* mouse, of five kinds and four encodings */
	{ true, true, false, 25 },  /* cursor shown */
	{ true, false, false, 42 }, /* national characters */
	{ true, false, false, 45 }, /* reverse wrap */
	{ true, false, false, 66 }, /* application keypad */
	{ true, false, false, 67 }, /* the backspace key sends a backspace */
	{ true, false, false, 69 }, /* left and right margins */
	{ true, false, false, 1000 }, { true, false, false, 1002 }, { true, false, false, 1003 },
	{ true, false, false, 1004 }, /* focus reports */
	{ true, false, false, 1005 }, { true, false, false, 1006 }, { true, false, false, 1015 },
	{ true, false, false, 1016 },
	{ true, true, false, 1046 }, /* the alternate screen is allowed */
	{ true, false, false, 1050 },
	{ true, false, false, 1051 }, /* function keys, of six kinds */
	{ true, false, false, 1052 }, { true, false, false, 1053 }, { true, false, false, 1060 },
	{ true, false, false, 1061 }, { true, false, false, 2004 }, /* bracketed paste */
	{ true, false, false, 2026 },                               /* held updates */
	{ true, false, false, 2031 },                               /* colour scheme reports */
	{ true, false, false, 2048 },                               /* size reports */
	{ true, false, false, 5522 },                               /* paste events */
	{ true, false, false, 7727 },                               /* application escape key */
	{ true, false, false, 9001 },                               /* win32 key reports */
	{ false, false, false, 2 },                                 /* keyboard locked */
	{ false, false, false, 4 },                                 /* insert */
	{ false, false, false, 20 },                                /* new line */
};

enum { TABLE_COUNT = sizeof table / sizeof table[0] };
_Static_assert(TABLE_COUNT <= 64, "struct modes has one bit for each");

enum other {
	OTHER_KEYPAD,
	OTHER_CURSOR_STYLE,
	OTHER_REGION,
	OTHER_KEYBOARD, /* CSI = u: set without a stack */
	OTHER_MODIFIERS,
	OTHER_PALETTE,
	OTHER_FOREGROUND,
	OTHER_BACKGROUND,
	OTHER_CURSOR_COLOUR,
	OTHER_LINK,
	OTHER_CHARSET,
	OTHER_SHIFT,
	OTHER_RENDITION,
	OTHER_COUNT
};

/* Setting the region moves the cursor, hence the save and restore around it. */
static const char *const other_reset[OTHER_COUNT] = {
	[OTHER_KEYPAD] = "\033>",
	[OTHER_CURSOR_STYLE] = "\033[0 q",
	[OTHER_REGION] = "\0337\033[r\0338",
	[OTHER_KEYBOARD] = "\033[=0u",
	[OTHER_MODIFIERS] = "\033[>4;0m",
	[OTHER_PALETTE] = "\033]104\033\\",
	[OTHER_FOREGROUND] = "\033]110\033\\",
	[OTHER_BACKGROUND] = "\033]111\033\\",
	[OTHER_CURSOR_COLOUR] = "\033]112\033\\",
	[OTHER_LINK] = "\033]8;;\033\\",
	[OTHER_CHARSET] = "\033(B",
	[OTHER_SHIFT] = "\017",
	[OTHER_RENDITION] = "\033[0m",
};

static void other_set(struct modes *modes, enum other which, bool value)
{
	if (value)
		modes->other |= 1U << which;
	else
		modes->other &= ~(1U << which);
}

static bool is_alternate(const struct modes *modes)
{
	for (size_t i = 0; i < TABLE_COUNT; i++)
		if (table[i].alternate && modes->changed >> i & 1)
			return true;
	return false;
}

/* `restored`: brought back from a save that the filter did not follow; reset it to be sure. */
static void mode_set(struct modes *modes, bool private, unsigned number, bool on, bool restored)
{
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		if (table[i].private != private || table[i].number != number)
			continue;
		if (on != table[i].on || restored)
			modes->changed |= UINT64_C(1) << i;
		else
			modes->changed &= ~(UINT64_C(1) << i);
	}
}

static void mode_numbers(struct modes *modes, const struct control *control, bool on, bool restored)
{
	for (size_t i = 0; i < control->count; i++)
		mode_set(modes, control->prefix == '?', control->number[i], on, restored);
}

static void keyboard_control(struct modes *modes, const struct control *control)
{
	unsigned *depth = &modes->keyboards[is_alternate(modes)];
	unsigned count = control->count && control->number[0] ? control->number[0] : 1;
	if (control->prefix == '>')
		*depth += *depth < 99;
	else if (control->prefix == '<')
		*depth -= count < *depth ? count : *depth;
	else if (control->prefix == '=')
		other_set(modes, OTHER_KEYBOARD, true);
}

static void plain_control(struct modes *modes, const struct control *control)
{
	bool numbers = false;
	for (size_t i = 0; i < control->count; i++)
		numbers |= control->number[i] != 0;
	if (control->final == 'm')
		other_set(modes, OTHER_RENDITION, numbers);
	else if (control->final == 'r')
		other_set(modes, OTHER_REGION, numbers);
}

void modes_control(struct modes *modes, const struct control *control)
{
	if (control->intermediate) {
		if (control->intermediate == ' ' && control->final == 'q')
			other_set(modes, OTHER_CURSOR_STYLE, true);
		return;
	}
	if (control->final == 'u' && control->prefix)
		keyboard_control(modes, control);
	else if (control->prefix == '>' && control->final == 'm')
		other_set(modes, OTHER_MODIFIERS, true);
	else if (control->prefix == '?' && control->final == 'r')
		mode_numbers(modes, control, true, true);
	else if (control->final == 'h' || control->final == 'l')
		mode_numbers(modes, control, control->final == 'h', false);
	else if (!control->prefix)
		plain_control(modes, control);
}

void modes_escape(struct modes *modes, uint8_t intermediate, uint8_t final)
{
	if (!intermediate && final == 'c')
		*modes = (struct modes){ 0 }; /* a full reset */
	else if (!intermediate && (final == '=' || final == '>'))
		other_set(modes, OTHER_KEYPAD, final == '=');
	else if (!intermediate && (final == 'n' || final == 'o'))
		other_set(modes, OTHER_SHIFT, true);
	else if (intermediate == '(')
		other_set(modes, OTHER_CHARSET, final != 'B');
}

void modes_command(struct modes *modes, unsigned number, const char *text)
{
	static const struct {
		unsigned number;
		enum other other;
	} colours[] = {
		{ 4, OTHER_PALETTE },
		{ 10, OTHER_FOREGROUND },
		{ 11, OTHER_BACKGROUND },
		{ 12, OTHER_CURSOR_COLOUR },
	};
	if (number == 8) {
		const char *address = strchr(text, ';');
		other_set(modes, OTHER_LINK, address && address[1]);
	}
	for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++) {
		if (number == colours[i].number && !strchr(text, '?'))
			other_set(modes, colours[i].other, true);
		if (number == colours[i].number + 100 && !*text)
			other_set(modes, colours[i].other, false);
	}
}

void modes_shift(struct modes *modes, bool out)
{
	other_set(modes, OTHER_SHIFT, out);
}

static uint8_t *put(uint8_t *out, const char *text)
{
	size_t length = strlen(text);
	memcpy(out, text, length);
	return out + length;
}

static uint8_t *put_number(uint8_t *out, unsigned number)
{
	char digits[12];
	size_t at = sizeof digits - 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	return put(out, digits + at);
}

static uint8_t *put_keyboard(uint8_t *out, unsigned depth)
{
	return depth ? put(put_number(put(out, "\033[<"), depth), "u") : out;
}

size_t modes_reset(struct modes *modes, uint8_t *ret_out)
{
	/* Each screen has a keyboard stack of its own. */
	uint8_t *out = put_keyboard(ret_out, modes->keyboards[1]);
	if (is_alternate(modes) && modes->other >> OTHER_KEYBOARD & 1)
		out = put(out, other_reset[OTHER_KEYBOARD]);
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		if (!(modes->changed >> i & 1))
			continue;
		out = put_number(put(out, table[i].private ? "\033[?" : "\033["), table[i].number);
		out = put(out, table[i].on ? "h" : "l");
	}
	out = put_keyboard(out, modes->keyboards[0]);
	for (unsigned i = 0; i < OTHER_COUNT; i++)
		if (modes->other >> i & 1)
			out = put(out, other_reset[i]);
	*modes = (struct modes){ 0 };
	return (size_t)(out - ret_out);
}
