/* SPDX-License-Identifier: MIT */
/* The output filter: what passes, what does not, wherever the input is split. */
#include "supervisor/filter.h"

#include <stdlib.h>

#include "tests/unit/test.h"

static const struct {
	const char *name, *in, *out; /* `out` NULL: as `in` */
} cases[] = {
	{ "text", "hello\r\n\tworld\b \a", NULL },
	{ "UTF-8", "h\xc3\xa9 \xe2\x94\x80 \xf0\x9f\x98\x80 \xc5\x9b", NULL },
	{ "no UTF-8",
		"a\x9b"
		"31m\xff|\xe2\x94|\xc3",
		"a\xef\xbf\xbd"
		"31m\xef\xbf\xbd|\xef\xbf\xbd|" },
	{ "overlong CSI",
		"\xc1\x9b"
		"21t|\xe0\x82\x9b"
		"21t",
		"\xef\xbf\xbd\xef\xbf\xbd"
		"21t|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		"21t" },
	{ "surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "C1 becomes ESC",
		"\xc2\x9b"
		"1m\xc2\x85",
		"\033[1m\033E" },
	{ "C1 is judged",
		"\xc2\x9d"
		"52;c;aGk=\xc2\x9c|\xc2\x9b"
		"21t|",
		"||" },
	{ "colours", "\033[1;38;5;12;48:2::1:2:3mx\033[m", NULL },
	{ "cursor", "\033[H\033[2J\033[10;20H\033[?25l\033[K\0337\0338\033[5A\033[3b", NULL },
	{ "questions of fixed shape",
		"\033[c\033[>c\033[5n\033[6n\033[?6n\033[?996n\033[?u\033[>q\033[14t\033[18t"
		"\033[?2026$p\033]10;?\033\\\033]11;?\a\033]4;1;?\a\033Z",
		NULL },
	{ "kitty keyboard", "\033[>1u\033[=5;1u\033[<u", NULL },
	{ "modify other keys", "\033[>4;2m\033[?4m", NULL },
	{ "modes", "\033[?1049h\033[?1000;1006h\033[?2004h\033[4h\033[?1049l", NULL },
	{ "VT52", "a\033[?2lb\033[?25;2lc", "abc" },
	{ "Tektronix", "\033[?38hx", "x" },
	{ "not UTF-8 mode", "\033%@\xc5\x9b", "\xc5\x9b" },
	{ "log file", "\033[?46hx\033[?46rx", "xx" },
	{ "other grammars brought back", "\033[?2rx\033[?38rx", "xx" },
	{ "numbers that wrap around", "\033[?4294968296hx\033[65557tx\033[4294967317tx", "xxx" },
	{ "groups outside of colours", "\033[?1:1000hx\033[14:21tx", "xx" },
	{ "keyboard lock", "\033[2hx", "x" },
	{ "answer-back", "a\005b", "ab" },
	{ "title", "\033]0;hello \xc3\xa9\a\033]2;x\033\\", NULL },
	{ "title with controls", "\033]2;a\nb\rc\x7f\td\a", "\033]2;abcd\a" },
	{ "title with a C1 inside",
		"\033]2;a\xc2\x9b"
		"21tb\a",
		"b\a" },
	{ "title report", "\033[21t\033[20tx\033[021t", "x" },
	{ "window", "\033[8;10;10t\033[2t\033[3;0;0tx\033[30t", "x" },
	{ "title stack", "\033[22;0t\033[23;0t", NULL },
	{ "printing", "\033[i\033[5i\033[?4ix", "x" },
	{ "checksums", "\033[1;1;1;1;9;9*yx", "x" },
	{ "clipboard", "a\033]52;c;aGVsbG8=\ab\033]52;;?\033\\c", "abc" },
	{ "clipboard with zeros", "\033]0052;c;aGVsbG8=\ab", "b" },
	{ "clipboard after cancel", "\033]2;x\030\033]52;c;aGk=\ay", "y" },
	{ "links", "\033]8;id=1;https://example.org/\033\\x\033]8;;\033\\", NULL },
	{ "directory and prompts", "\033]7;file://h/d\a\033]133;A\a", NULL },
	{ "notification", "\033]9;build done\a\033]9;4;1;50\a", NULL },
	{ "notification that runs", "\033]9;7;cmd\a\033]9;6;macro\ax", "x" },
	{ "file transfer", "\033]1337;File=name=YQ==:AAAA\ax", "x" },
	{ "other commands", "\033]50;?\a\033]51;[\"call\"]\a\033]777;x\a\033]633;E;x\a\033]xyz\ax",
		"x" },
	{ "Linux palette", "\033]P1abcdefx\033]Ry\033]P12\033[1mz", "xy\033[1mz" },
	{ "keys", "\033P0;1|17/41\033\\x", "x" },
	{ "settings", "\033P$qm\033\\\033P+q544e\033\\x", "x" },
	{ "pass-through", "\033Ptmux;\033\033]52;c;aGk=\a\033\\x", "x" },
	{ "sixel", "\033P0;1;0q\"1;1;2;2#0;2;0;0;0~~-\033\\x", NULL },
	{ "sixel cut off", "\033Pq~~\033[1mx", "\033Pq~~\033\\\033[1mx" },
	{ "kitty graphics", "\033_Gt=f;L2V0Yw==\033\\x", "x" },
	{ "PM and SOS", "\033^a\033\\\033Xb\033\\x", "x" },
	{ "screen's title", "\033kname\033\\x\033kname\ny", "x\ny" },
	{ "character sets", "\033(0lqk\033(B\016x\017", NULL },
	{ "cancelled", "\033[3\0301m\033]2;t\032x", "1mx" },
	{ "begun again", "\033[3\033[1mx\033\033[4m", "\033[1mx\033[4m" },
	{ "controls inside", "\033[3\n1mx", "\n\033[31mx" },
	{ "malformed", "\033[1?hx\033[1!2px\033[?<1hx", "xxx" },
	{ "unknown", "\033[5&ux\033[=5zx\033ix", "xxx" },
	{ "reset", "\033c\033[!p", NULL },
	{ "eight-bit answers", "\033 Gx\033[62;0\"px", "xx" },
	{ "text in a sequence", "\033[3\xc3\xa9x", "\xc3\xa9x" },
};

static size_t feed(
	struct filter *filter, const char *in, size_t length, size_t piece, char *ret_out)
{
	size_t used = 0;
	for (size_t at = 0; at < length; at += piece) {
		size_t now = length - at < piece ? length - at : piece;
		used += filter_feed(
			filter, (const uint8_t *)in + at, now, (uint8_t *)ret_out + used);
	}
	ret_out[used] = '\0';
	return used;
}

static void check_cases(void)
{
	static struct filter filter;
	static char out[FILTER_ROOM(1024) * 2];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *want = cases[i].out ? cases[i].out : cases[i].in;
		bool good = true;
		for (size_t piece = 1; piece < 40; piece++) {
			filter_init(&filter);
			feed(&filter, cases[i].in, strlen(cases[i].in), piece, out);
			good &= strcmp(out, want) == 0;
		}
		check_string(out, want, cases[i].name);
		if (!good)
			check(false, cases[i].name);
	}
}

static void check_reset(const char *in, const char *want, const char *name)
{
	static struct filter filter;
	static char out[FILTER_ROOM(1024)], end[FILTER_FINISH + 1];
	filter_init(&filter);
	feed(&filter, in, strlen(in), 1024, out);
	end[filter_finish(&filter, (uint8_t *)end)] = '\0';
	check_string(end, want, name);
}

static void check_resets(void)
{
	check_reset("hello\033[1mx\033[0m", "", "nothing set, nothing reset");
	check_reset("\033[?1049h\033[?1049l\033[?25l\033[?25h\033=\033>", "", "set and reset");
	check_reset("\033[?1049h\033[?25l", "\033[?1049l\033[?25h", "screen and cursor");
	check_reset("\033[?1000;1006h\033[?2004h\033[?1004h",
		"\033[?1000l\033[?1004l\033[?1006l\033[?2004l", "mouse, focus, paste");
	check_reset("\033[31m\033(0", "\033(B\033[0m", "rendition and character set");
	check_reset("\033[>1u\033[>1u\033[<u", "\033[<1u", "keyboard stack");
	check_reset("\033[>1u\033[?1049h\033[>1u\033[>3u", "\033[<2u\033[?1049l\033[<1u",
		"a keyboard stack for each screen");
	check_reset("\033[5;10r", "\0337\033[r\0338", "scroll region");
	check_reset("\033[?1h\033=\033[4 q", "\033[?1l\033>\033[0 q", "keys and cursor style");
	check_reset("\033]8;;http://x/\033\\a", "\033]8;;\033\\", "an open link");
	check_reset("\033]11;#000000\a\033]10;?\a", "\033]111\033\\", "colours");
	check_reset("\033[?1000s\033[?1000r", "\033[?1000l", "a mode restored from a save");
	check_reset("\033[?1049h\033[?1003h\033c", "", "after a full reset");
	check_reset("\033Pq~~", "\033\\", "a sixel image left open");
	check_reset("\033]52;c;aaaa", "", "a sequence left open");
}

static void check_bounds(void)
{
	enum { LONG = 3 * FILTER_HOLD };
	static struct filter filter;
	static char in[LONG + 16], out[FILTER_ROOM(LONG + 16)];
	filter_init(&filter);
	memset(in, 'a', LONG);
	memcpy(in, "\033]2;", 4);
	memcpy(in + LONG, "\ax\033[1m", 6);
	feed(&filter, in, LONG + 6, 1000, out);
	check_string(out, "x\033[1m", "too long a title");
	memset(in, '1', LONG);
	memcpy(in, "\033[", 2);
	memcpy(in + LONG, "mx", 3);
	feed(&filter, in, LONG + 2, 1000, out);
	check_string(out, "x", "too long a control sequence");
	memset(in, '\x80', LONG);
	size_t length = feed(&filter, in, LONG, LONG, out);
	check(length == 3 * LONG, "replacements fit");
}

int main(void)
{
	check_cases();
	check_resets();
	check_bounds();
	return test_done();
}
