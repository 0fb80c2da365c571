/* SPDX-License-Identifier: MIT */
/*
 * Allow-lists: a terminal's vocabulary grows, and what is not known here is dropped.
 *
 * Passed although the terminal answers, since the answer has a fixed shape and no words of the
 * sender's choice, so that a shell that reads it by accident runs nothing:
 *   CSI c, > c, = c; ESC Z   what kind of terminal
 *   CSI 5 n, 6 n, ? 6 n      well; cursor position (two numbers)
 *   CSI ? 996 n              dark or light
 *   CSI ... $ p              state of a mode (two numbers)
 *   CSI 14 t, 16 t, 18 t, 19 t   sizes
 *   CSI > q                  the terminal's name and version
 *   CSI ? u, ? m, ? S        keyboard protocol, modifiers, graphics limits (numbers)
 *   OSC 4, 5, 10 to 19 with ?   colours (hexadecimal)
 *
 * Not passed, and why:
 *   ENQ                      answers with a string that can be set
 *   CSI 20 t, 21 t           answer with a title, which OSC 2 sets: typed by the terminal
 *   CSI 1 to 11, 13, 24.. t  move, hide and resize the user's window
 *   CSI i                    prints, or writes the screen into a file
 *   CSI ... * y, # y         answer with checksums: what is on the user's screen can be read
 *   CSI $ w, & u, x, ' z ..  rarely used questions about the terminal's state
 *   CSI * z, DCS ! z         macros
 *   CSI ? 46 h               writes the output into a file
 *   CSI ? 2 l, ? 38 h, ESC % other grammars (VT52, Tektronix, not UTF-8), which are not followed
 * here CSI " p, ESC SP G        eight-bit answers CSI 2 h                  locks the keyboard DCS
 * all but sixels: keys (UDK), fonts, settings ($q, +q, +p: echo the asker's words on some
 * terminals), ReGIS, tmux's pass-through OSC 52                   clipboard OSC 9 ; 6, 7 and kin
 * run macros and programs in one terminal (only text, 4, 9, 12 pass) OSC 3, 46, 50, 51, 633, 777,
 * 1337   properties, log files, fonts, editors' calls, extensions, file transfer APC, PM, SOS
 * kitty's images name files to read and delete; a direct image cannot be told from those without
 * following that protocol
 */
#include "supervisor/rules.h"

#include <string.h>

enum { LARGEST = 99999 };

bool rules_allow_escape(uint8_t between, uint8_t final)
{
	static const struct {
		uint8_t between;
		const char *finals; /* NULL: any */
	} escapes[] = {
		{ 0, "6789=>DEHMNOVWZcno|}~" },
		{ ' ', "F" },
		{ '#', "34568" },
		{ '%', "G" },
		/* Character sets. */
		{ '(', NULL },
		{ ')', NULL },
		{ '*', NULL },
		{ '+', NULL },
		{ '-', NULL },
		{ '.', NULL },
		{ '/', NULL },
	};
	for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
		if (escapes[i].between == between)
			return !escapes[i].finals || strchr(escapes[i].finals, final);
	return false;
}

static bool is_number(uint8_t byte)
{
	return byte >= '0' && byte <= ';';
}

/* Numbers separated by ';'; of a group with ':' the first counts. False: too many. `ret_clear`: one is so
 * large that a terminal that counts in few bits takes it for another, or in a group outside of
 * colours, where some take ':' for ';'. */
static bool read_numbers(
	const uint8_t *bytes, size_t length, struct control *control, bool *ret_clear)
{
	bool sub = false;
	if (!length)
		return true;
	control->count = 1;
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == ';') {
			if (control->count == CONTROL_NUMBERS)
				return false;
			control->count++;
			sub = false;
			continue;
		}
		unsigned *number = &control->number[control->count - 1];
		sub |= bytes[i] == ':';
		if (!sub && *number <= LARGEST)
			*number = *number * 10 + (bytes[i] - '0');
		if (*number > LARGEST || (sub && control->final != 'm'))
			*ret_clear = false;
	}
	return true;
}

bool rules_read_control(const uint8_t *bytes, size_t length, struct control *ret_control)
{
	const uint8_t *end = bytes + length - 1; /* the final byte */
	bool clear = true;
	*ret_control = (struct control){ .final = *end };
	if (bytes < end && *bytes >= '<' && *bytes <= '?')
		ret_control->prefix = *bytes++;
	const uint8_t *numbers = bytes;
	while (bytes < end && is_number(*bytes))
		bytes++;
	bool fits = read_numbers(numbers, (size_t)(bytes - numbers), ret_control, &clear);
	if (bytes < end)
		ret_control->intermediate = *bytes++;
	/* Only colours come in such numbers that there could be more. */
	return bytes == end && clear &&
	       (!ret_control->intermediate || ret_control->intermediate < '0') &&
	       (fits || *end == 'm');
}

static bool has(const struct control *control, unsigned number)
{
	for (size_t i = 0; i < control->count; i++)
		if (control->number[i] == number)
			return true;
	return false;
}

static bool first_is(const struct control *control, const unsigned *allowed)
{
	for (; *allowed; allowed++)
		if (control->count && control->number[0] == *allowed)
			return true;
	return false;
}

static bool is_status(const struct control *control)
{
	return first_is(control, (const unsigned[]){ 5, 6, 0 });
}

static bool is_private_status(const struct control *control)
{
	return first_is(control, (const unsigned[]){ 6, 996, 0 });
}

static bool is_size_or_title_stack(const struct control *control)
{
	return first_is(control, (const unsigned[]){ 14, 16, 18, 19, 22, 23, 0 });
}

static bool is_harmless_mode(const struct control *control)
{
	return !has(control, 2);
}

static bool is_harmless_private_mode(const struct control *control)
{
	if (control->final == 'l')
		return !has(control, 2);
	/* 1001 waits for an answer of the program, 46 writes the output into a file. */
	return !has(control, 38) && !has(control, 46) && !has(control, 1001) &&
	       !(control->final == 'r' && has(control, 2));
}

bool rules_allow_control(const struct control *control)
{
	static const struct {
		uint8_t prefix, intermediate;
		const char *finals;
		bool (*allow)(const struct control *control);
	} controls[] = {
		{ 0, 0, "@ABCDEFGHIJKLMPSTXZ`abcdefgmqrsu", NULL },
		{ 0, 0, "n", is_status },
		{ 0, 0, "t", is_size_or_title_stack },
		{ 0, 0, "hl", is_harmless_mode },
		{ '?', 0, "hlr", is_harmless_private_mode },
		{ '?', 0, "n", is_private_status },
		{ '?', 0, "JKSWmsu", NULL },
		{ '>', 0, "cmnqu", NULL },
		{ '=', 0, "cu", NULL },
		{ '<', 0, "u", NULL },
		{ 0, '$', "prtvxz{", NULL },
		{ '?', '$', "p", NULL },
		{ 0, '!', "p", NULL },
		{ 0, '"', "q", NULL },
		{ 0, ' ', "@Aq", NULL },
		{ 0, '\'', "}~", NULL },
		{ 0, '#', "PQpq{}", NULL },
		{ 0, '*', "x", NULL },
	};
	for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
		if (controls[i].prefix == control->prefix &&
			controls[i].intermediate == control->intermediate &&
			strchr(controls[i].finals, control->final))
			return !controls[i].allow || controls[i].allow(control);
	return false;
}

/* A notification in words, or one of the numbered commands that only show something. */
static bool is_harmless_notification(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits || (text[digits] && text[digits] != ';'))
		return true;
	return (digits == 1 && (*text == '4' || *text == '9')) ||
	       (digits == 2 && memcmp(text, "12", 2) == 0);
}

bool rules_allow_command(const char *command, unsigned *ret_number, const char **ret_text)
{
	static const struct {
		unsigned first, last;
	} allowed[] = {
		{ 0, 2 },                   /* titles */
		{ 4, 5 },                   /* palette */
		{ 7, 9 },                   /* directory, link, notification */
		{ 10, 19 },                 /* colours */
		{ 104, 105 },               /* and back */
		{ 110, 119 }, { 133, 133 }, /* prompts */
	};
	size_t digits = strspn(command, "0123456789");
	if (digits == 0 || digits > 4 || (command[digits] && command[digits] != ';'))
		return false;
	unsigned number = 0;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (unsigned)(command[i] - '0');
	*ret_number = number;
	*ret_text = command + digits + (command[digits] == ';');
	if (number == 9 && !is_harmless_notification(*ret_text))
		return false;
	for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
		if (number >= allowed[i].first && number <= allowed[i].last)
			return true;
	return false;
}
