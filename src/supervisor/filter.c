/* SPDX-License-Identifier: MIT */
/*
 * A table of states by byte classes over a stage that decodes UTF-8. C1 controls, which some
 * terminals also obey as characters U+0080 to U+009F, are turned into their ESC forms first, so
 * there is one grammar to judge; bytes that are no UTF-8 (overlong forms above all, which lax
 * decoders turn into controls) become U+FFFD. Nothing of a sequence leaves before it is judged, so
 * the terminal's own parser is never in another state than this one.
 *
 * Assumed: a terminal in UTF-8 mode. ESC % that would leave that mode is dropped.
 */
#include "supervisor/filter.h"

#include <stdbool.h>
#include <string.h>

#include "supervisor/rules.h"

enum state {
	STATE_GROUND,
	STATE_ESCAPE,        /* after ESC */
	STATE_ESCAPE_MORE,   /* after ESC and intermediates */
	STATE_CONTROL,       /* after ESC [ */
	STATE_STRING,        /* after ESC and one of ] P X ^ _ k */
	STATE_STRING_ESCAPE, /* an ESC in a string: its end, or the beginning of something else */
	STATE_PALETTE, /* after ESC ] P, which has seven digits on the Linux console and no end */
	STATE_COUNT
};

enum class {
	CLASS_DROP,   /* controls without use, among them ENQ: the terminal's answer-back string */
	CLASS_FORMAT, /* backspace, tab, line feed, carriage return and kin */
	CLASS_BELL,
	CLASS_SHIFT,  /* SO, SI */
	CLASS_CANCEL, /* CAN, SUB */
	CLASS_ESCAPE,
	CLASS_BETWEEN, /* intermediates */
	CLASS_NUMBER,  /* digits, ':' and ';' */
	CLASS_PREFIX,  /* '<' to '?' */
	CLASS_FINAL,
	CLASS_CONTROL, /* '[', where it begins a control sequence */
	CLASS_STRING,  /* what begins a string */
	CLASS_COUNT
};

enum string {
	STRING_COMMAND, /* OSC: held and judged */
	STRING_DEVICE,  /* DCS: held up to its final byte */
	STRING_IMAGE,   /* DCS q, sixels: streamed */
	STRING_DISCARD, /* swallowed up to its end */
	STRING_TITLE,   /* ESC k of screen: the same, and a line feed ends it too */
};

static const uint8_t class_of[128] = {
	[0x07] = CLASS_BELL,
	[0x08 ... 0x0d] = CLASS_FORMAT,
	[0x0e ... 0x0f] = CLASS_SHIFT,
	[0x18] = CLASS_CANCEL,
	[0x1a] = CLASS_CANCEL,
	[0x1b] = CLASS_ESCAPE,
	[0x20 ... 0x2f] = CLASS_BETWEEN,
	[0x30 ... 0x3b] = CLASS_NUMBER,
	[0x3c ... 0x3f] = CLASS_PREFIX,
	[0x40 ... 0x4f] = CLASS_FINAL,
	['P'] = CLASS_STRING,
	[0x51 ... 0x57] = CLASS_FINAL,
	['X'] = CLASS_STRING,
	[0x59 ... 0x5a] = CLASS_FINAL,
	['['] = CLASS_CONTROL,
	['\\'] = CLASS_FINAL,
	[']' ... '_'] = CLASS_STRING,
	[0x60 ... 0x6a] = CLASS_FINAL,
	['k'] = CLASS_STRING,
	[0x6c ... 0x7e] = CLASS_FINAL,
};

/* What means the same in every text: the run that is copied without a look at the table. */
static const bool is_plain[256] = { [0x07 ... 0x0d] = true, [0x20 ... 0x7e] = true };

static void step(struct filter *filter, uint8_t byte);

static void emit_bytes(struct filter *filter, const void *bytes, size_t length)
{
	memcpy(filter->out, bytes, length);
	filter->out += length;
}

static void emit(struct filter *filter, uint8_t byte)
{
	*filter->out++ = byte;
}

static void emit_shift(struct filter *filter, uint8_t byte)
{
	modes_shift(&filter->modes, byte == 0x0e);
	emit(filter, byte);
}

/* A full buffer is a sequence that is too long, and will be dropped. */
static void hold(struct filter *filter, uint8_t byte)
{
	if (filter->held < FILTER_HOLD)
		filter->hold[filter->held++] = byte;
}

static bool is_too_long(const struct filter *filter)
{
	return filter->held == FILTER_HOLD;
}

static void begin(struct filter *filter, uint8_t byte)
{
	filter->held = 0;
	hold(filter, byte);
}

static void escape_end(struct filter *filter, uint8_t final)
{
	uint8_t between = filter->held > 1 ? filter->hold[1] : 0;
	hold(filter, final);
	if (filter->held > 3 || !rules_allow_escape(between, final))
		return;
	modes_escape(&filter->modes, between, final);
	emit_bytes(filter, filter->hold, filter->held);
}

static void control_end(struct filter *filter, uint8_t final)
{
	struct control control;
	hold(filter, final);
	if (is_too_long(filter) ||
		!rules_read_control(filter->hold + 2, filter->held - 2, &control) ||
		!rules_allow_control(&control))
		return;
	modes_control(&filter->modes, &control);
	emit_bytes(filter, filter->hold, filter->held);
}

static void string_begin(struct filter *filter, uint8_t byte)
{
	hold(filter, byte);
	filter->string = byte == ']'   ? STRING_COMMAND
			 : byte == 'P' ? STRING_DEVICE
			 : byte == 'k' ? STRING_TITLE
				       : STRING_DISCARD;
}

/* Numbers and then `q`: an image. Everything else of the kind defines keys, fonts or macros, talks
 * through tmux, or asks for answers in the sender's words. */
static void device_add(struct filter *filter, uint8_t byte)
{
	hold(filter, byte);
	if (class_of[byte] == CLASS_NUMBER && byte != ':')
		return;
	filter->string = byte == 'q' && !is_too_long(filter) ? STRING_IMAGE : STRING_DISCARD;
	if (filter->string == STRING_IMAGE)
		emit_bytes(filter, filter->hold, filter->held);
}

static void command_add(struct filter *filter, uint8_t byte)
{
	if (filter->held == 2 && (byte == 'P' || byte == 'R')) {
		/* Neither has an end, so neither may hold up what follows. */
		filter->state = byte == 'P' ? STATE_PALETTE : STATE_GROUND;
		filter->held = 0;
		return;
	}
	hold(filter, byte);
}

static void string_add(struct filter *filter, uint8_t byte)
{
	if (filter->string == STRING_COMMAND)
		command_add(filter, byte);
	else if (filter->string == STRING_DEVICE)
		device_add(filter, byte);
	else if (filter->string == STRING_IMAGE)
		emit(filter, byte);
}

static void string_format(struct filter *filter, uint8_t byte)
{
	if (filter->string == STRING_IMAGE && (byte == '\n' || byte == '\r')) {
		emit(filter, byte);
	} else if (filter->string == STRING_TITLE && byte == '\n') {
		filter->state = STATE_GROUND;
		emit(filter, byte);
	}
}

/* Cut off: what was begun outside is closed outside. */
static void string_abort(struct filter *filter, uint8_t byte)
{
	(void)byte;
	if (filter->string == STRING_IMAGE)
		emit_bytes(filter, "\033\\", 2);
}

static void string_end(struct filter *filter, const char *terminator)
{
	if (filter->string == STRING_IMAGE) {
		string_abort(filter, 0);
	} else if (filter->string == STRING_COMMAND && !is_too_long(filter)) {
		size_t length = filter->held;
		unsigned number;
		const char *text;
		filter->hold[length] = '\0';
		if (!rules_allow_command((char *)filter->hold + 2, &number, &text))
			return;
		modes_command(&filter->modes, number, text);
		emit_bytes(filter, filter->hold, length);
		emit_bytes(filter, terminator, strlen(terminator));
	}
}

static void string_bell(struct filter *filter, uint8_t byte)
{
	(void)byte;
	if (filter->string != STRING_COMMAND && filter->string != STRING_TITLE)
		return;
	filter->state = STATE_GROUND;
	string_end(filter, "\a");
}

static void string_escape(struct filter *filter, uint8_t byte)
{
	if (byte == '\\') {
		string_end(filter, "\033\\");
		return;
	}
	string_abort(filter, byte);
	begin(filter, 0x1b);
	filter->state = STATE_ESCAPE;
	step(filter, byte);
}

static void palette_digit(struct filter *filter, uint8_t byte)
{
	bool is_digit = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'F') ||
			(byte >= 'a' && byte <= 'f');
	if (is_digit && ++filter->held < 7)
		return;
	filter->state = STATE_GROUND;
	if (!is_digit)
		step(filter, byte);
}

struct cell {
	void (*act)(struct filter *filter, uint8_t byte); /* may choose another next state */
	enum state next;
};

/* Controls inside a sequence work as if they came before it, as in every terminal. */
#define CONTROLS_INSIDE(state)                                                                     \
	[CLASS_DROP] = { NULL, state }, [CLASS_FORMAT] = { emit, state },                          \
	[CLASS_BELL] = { emit, state }, [CLASS_SHIFT] = { emit_shift, state },                     \
	[CLASS_CANCEL] = { NULL, STATE_GROUND }, [CLASS_ESCAPE] = { begin, STATE_ESCAPE }

static const struct cell table[STATE_COUNT][CLASS_COUNT] = {
	[STATE_GROUND] = {
		CONTROLS_INSIDE(STATE_GROUND),
		[CLASS_BETWEEN ... CLASS_STRING] = {emit, STATE_GROUND},
	},
	[STATE_ESCAPE] = {
		CONTROLS_INSIDE(STATE_ESCAPE),
		[CLASS_BETWEEN] = {hold, STATE_ESCAPE_MORE},
		[CLASS_NUMBER ... CLASS_FINAL] = {escape_end, STATE_GROUND},
		[CLASS_CONTROL] = {hold, STATE_CONTROL},
		[CLASS_STRING] = {string_begin, STATE_STRING},
	},
	[STATE_ESCAPE_MORE] = {
		CONTROLS_INSIDE(STATE_ESCAPE_MORE),
		[CLASS_BETWEEN] = {hold, STATE_ESCAPE_MORE},
		[CLASS_NUMBER ... CLASS_STRING] = {escape_end, STATE_GROUND},
	},
	[STATE_CONTROL] = {
		CONTROLS_INSIDE(STATE_CONTROL),
		[CLASS_BETWEEN ... CLASS_PREFIX] = {hold, STATE_CONTROL},
		[CLASS_FINAL ... CLASS_STRING] = {control_end, STATE_GROUND},
	},
	[STATE_STRING] = {
		[CLASS_DROP] = {NULL, STATE_STRING},
		[CLASS_FORMAT] = {string_format, STATE_STRING},
		[CLASS_BELL] = {string_bell, STATE_STRING},
		[CLASS_SHIFT] = {NULL, STATE_STRING},
		[CLASS_CANCEL] = {string_abort, STATE_GROUND},
		[CLASS_ESCAPE] = {NULL, STATE_STRING_ESCAPE},
		[CLASS_BETWEEN ... CLASS_STRING] = {string_add, STATE_STRING},
	},
	[STATE_STRING_ESCAPE] = {
		[0 ... CLASS_STRING] = {string_escape, STATE_GROUND},
	},
	[STATE_PALETTE] = {
		[0 ... CLASS_STRING] = {palette_digit, STATE_PALETTE},
	},
};

static void step(struct filter *filter, uint8_t byte)
{
	const struct cell *cell = &table[filter->state][class_of[byte]];
	filter->state = (uint8_t)cell->next;
	if (cell->act)
		cell->act(filter, byte);
}

/* A whole character beyond ASCII, which is text or ends what it does not belong to. */
static void character_end(struct filter *filter)
{
	const uint8_t *bytes = filter->character;
	if (bytes[0] == 0xc2 && bytes[1] < 0xa0) {
		step(filter, 0x1b);
		step(filter, (uint8_t)(bytes[1] - 0x40));
		return;
	}
	if (filter->state == STATE_STRING) {
		for (size_t i = 0; i < filter->length && filter->string == STRING_COMMAND; i++)
			hold(filter, bytes[i]);
		return;
	}
	if (filter->state == STATE_STRING_ESCAPE)
		string_abort(filter, 0);
	filter->state = STATE_GROUND;
	emit_bytes(filter, bytes, filter->length);
}

static void character_replace(struct filter *filter)
{
	static const uint8_t replacement[] = { 0xef, 0xbf, 0xbd };
	memcpy(filter->character, replacement, sizeof replacement);
	filter->length = sizeof replacement;
	filter->needed = 0;
	character_end(filter);
}

/* The first byte says how long the character is and, against overlong and surrogate forms, what the
 * second may be. */
static void character_begin(struct filter *filter, uint8_t byte)
{
	if (byte < 0xc2 || byte > 0xf4) {
		character_replace(filter);
		return;
	}
	filter->needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	filter->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	filter->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	filter->character[0] = byte;
	filter->length = 1;
}

static void character_continue(struct filter *filter, uint8_t byte)
{
	filter->character[filter->length++] = byte;
	filter->low = 0x80;
	filter->high = 0xbf;
	if (--filter->needed == 0)
		character_end(filter);
}

static void decode(struct filter *filter, uint8_t byte)
{
	if (filter->needed && byte >= filter->low && byte <= filter->high) {
		character_continue(filter, byte);
		return;
	}
	if (filter->needed)
		character_replace(filter);
	if (byte < 0x80)
		step(filter, byte);
	else
		character_begin(filter, byte);
}

void filter_init(struct filter *filter)
{
	memset(filter, 0, offsetof(struct filter, hold));
	filter->modes = (struct modes){ 0 };
}

size_t filter_feed(struct filter *filter, const uint8_t *bytes, size_t length, uint8_t *ret_out)
{
	const uint8_t *end = bytes + length;
	filter->out = ret_out;
	while (bytes < end) {
		const uint8_t *run = bytes;
		if (filter->state == STATE_GROUND && !filter->needed)
			while (bytes < end && is_plain[*bytes])
				bytes++;
		emit_bytes(filter, run, (size_t)(bytes - run));
		if (bytes < end)
			decode(filter, *bytes++);
	}
	return (size_t)(filter->out - ret_out);
}

size_t filter_finish(struct filter *filter, uint8_t *ret_out)
{
	filter->out = ret_out;
	if (filter->state == STATE_STRING || filter->state == STATE_STRING_ESCAPE)
		string_abort(filter, 0);
	filter->out += modes_reset(&filter->modes, filter->out);
	size_t length = (size_t)(filter->out - ret_out);
	filter_init(filter);
	return length;
}
