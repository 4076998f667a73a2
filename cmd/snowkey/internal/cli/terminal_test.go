package cli

import (
	"strings"
	"testing"
)

// Colours are printed to terminals only, and not if they are disabled.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		env  Env
		want bool
	}{
		{Env{OutTTY: true}, true},
		{Env{}, false},
		{Env{ErrTTY: true}, false},
		{Env{OutTTY: true, Getenv: environment("NO_COLOR", "1")}, false},
		{Env{OutTTY: true, Getenv: environment("TERM", "dumb")}, false},
	} {
		for _, args := range [][]string{{"layout"}, {"parse", someID}, {"range", "yesterday", "now"}} {
			if got := runWith(t, c.env, args...); got.code != 0 || strings.Contains(got.out, "\x1b[") != c.want {
				t.Errorf("%q, %+v: %q", args, c.env, got.out)
			}
		}
		if got := runWith(t, c.env, "parse", "--brief", someID); strings.Contains(got.out, "\x1b[") {
			t.Errorf("data in colour: %q", got.out)
		}
	}
}

func TestCompletion(t *testing.T) {
	run(t, "completion", "bash").want(t, 0, "snowkey", "")
	for args, want := range map[string]string{
		"gen --format ": "base58", "parse --from ": "hex", "layout --preset son": "sonyflake", "ddl --dialect my": "mysql", "ddl wor": "workers",
		"partitions --by ": "month", "completion ": "fish", "workers ": "list", "serial encode --scheme ": "luhn", "": "doctor",
	} {
		fields := strings.Fields("__complete " + args)
		if args == "" || strings.HasSuffix(args, " ") {
			fields = append(fields, "")
		}
		run(t, fields...).want(t, 0, want, "")
	}
}

// A list of many ids on a line is read.
func TestLongList(t *testing.T) {
	const n = 50_000
	in := "[" + strings.Repeat("1996573624012345677,", n) + "7]\n8"
	got := runWith(t, Env{In: strings.NewReader(in)}, "parse", "--to", "decimal")
	if got.code != 0 || strings.Count(got.out, "\n") != n+2 || !strings.HasSuffix(got.out, "\n7\n8\n") {
		t.Errorf("exit code %d: %d lines; %.200s", got.code, strings.Count(got.out, "\n"), got.err)
	}
}

// A line that is too long ends the input.
func TestLongLine(t *testing.T) {
	in := "1\n" + strings.Repeat("7", maxLine+5) + "\n2"
	got := runWith(t, Env{In: strings.NewReader(in)}, "parse", "--brief")
	if got.code != 1 || strings.Count(got.out, "\n") != 1 || !strings.Contains(got.err, "read standard input: line 2 is longer than 1048576 bytes") {
		t.Errorf("exit code %d: %s%.200s", got.code, got.out, got.err)
	}
}
