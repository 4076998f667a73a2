package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
)

// The keys of the golden files, and tokens of them and of nothing.
const (
	oneSecret   = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	otherSecret = "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
	thirdSecret = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
	someKeys    = oneSecret + " # newest, " + otherSecret
	openTokens  = "JwIQ0ko2krM3BCBlyjpo9g [\"8cofIFwF89hKDFIOdn961m\"]\n{\"id\":\"ord_JwIQ0ko2krM3BCBlyjpo9g\"}\nORD_8cofIFwF89hKDFIOdn961m cus_8cofIFwF89hKDFIOdn961m\n" +
		"JwIQ0ko2krM3BCBlyjpo9h JwIQ0 JwIQ0ko2krM3BCBlyjpo9- zzzzzzzzzzzzzzzzzzzzzz\n7 ord_7\n"
)

// What was sealed is opened with the same flags, also after a rotation of the keys.
func TestTokenRoundTrip(t *testing.T) {
	older := filepath.Join(t.TempDir(), "older")
	newer := filepath.Join(t.TempDir(), "newer")
	writeKeys(t, older, oneSecret+"\n", 0o600)
	writeKeys(t, newer, "# rotated\n"+thirdSecret+"\n"+oneSecret+"\n", 0o600)
	ids := "0\n1\n7\n1996573624012345677\n9223372036854775807\n"
	for _, flags := range []string{"--type order", "--type order --prefix order_line"} {
		t.Run(flags, func(t *testing.T) {
			with := func(command, file string) []string {
				return append([]string{"token", command, "--key-file", file}, strings.Fields(flags)...)
			}
			sealed := runWith(t, Env{In: strings.NewReader(ids)}, with("seal", older)...)
			if sealed.code != 0 || sealed.err != "" || strings.Count(sealed.out, "\n") != 5 {
				t.Fatalf("%+v", sealed)
			}
			for _, file := range []string{older, newer} {
				opened := runWith(t, Env{In: strings.NewReader(sealed.out)}, with("open", file)...)
				if opened.code != 0 || opened.err != "" || opened.out != ids {
					t.Errorf("%s: %+v", file, opened)
				}
			}
			again := runWith(t, Env{In: strings.NewReader(ids)}, with("seal", newer)...)
			if again.code != 0 || again.out == sealed.out {
				t.Errorf("the newest key does not seal: %+v", again)
			}
			other := runWith(t, Env{In: strings.NewReader(again.out)}, with("open", older)...)
			if other.code != 1 || other.out != "" {
				t.Errorf("opened with keys that did not seal: %+v", other)
			}
		})
	}
}

func writeKeys(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), mode))
	if err := os.Chmod(file, mode); err != nil { // without the umask
		t.Fatal(err)
	}
}

func TestTokenKey(t *testing.T) {
	first, second := run(t, "token", "key"), run(t, "token", "key", "--json=false")
	if first.code != 0 || first.err != "" || first.out == second.out {
		t.Errorf("%+v", first)
	}
	if second.code != 2 {
		t.Errorf("%+v", second)
	}
	if _, err := token.ParseSecret(first.out); err != nil {
		t.Error(err)
	}
	env := Env{Getenv: environment(keysVariable, first.out)}
	if sealed := decoded[tokenJSON](t, runWith(t, env, "token", "seal", "--type", "order", "--json", "7")); sealed.ID != "7" || len(sealed.Token) != 22 {
		t.Errorf("%+v", sealed)
	}
}

// Every kind of bad keys: the message names the source and the line, and has no secret.
func TestBadKeys(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	for name, c := range map[string]struct{ text, says string }{
		"empty":          {"", "has no key; snowkey token key prints one"},
		"comments only":  {"# a\n\n  # " + oneSecret, "has no key"},
		"too short":      {oneSecret[:62], "line 1: a text of 62 characters is no secret: a secret is 32 bytes as 64 hexadecimal digits"},
		"too long":       {oneSecret + "00", "line 1: a text of 66 characters is no secret"},
		"no digits":      {"\n" + oneSecret[:63] + "g", "line 2: a text of 64 characters is no secret"},
		"zeros":          {zeros, "line 1: 32 equal bytes are no secret"},
		"two on a line":  {oneSecret + " " + otherSecret, "line 1: a text of 129 characters is no secret"},
		"a secret twice": {oneSecret + "\n\n" + oneSecret, "line 3: is the same secret as line 1"},
		"all faults":     {oneSecret[:40] + "\nx " + otherSecret, "line 2: a text of 66 characters is no secret"},
		"too large":      {strings.Repeat(" ", maxKeys) + oneSecret, "must have at most 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "keys")
			writeKeys(t, file, c.text, 0o600)
			got := run(t, "token", "seal", "--type", "order", "--key-file", file, "1")
			got.says(t, 2, c.says)
			shows(t, got)
		})
	}
	run(t, "token", "seal", "--type", "order", "1").want(t, 2, "", "--key-file is required, or the variable "+keysVariable)
	env := Env{Getenv: environment(keysVariable, oneSecret+",nonsense")}
	runWith(t, env, "token", "open", "--type", "order", "1").want(t, 2, "", "$"+keysVariable+": line 2: a text of 8 characters is no secret")
}

// shows fails the test if a message shows a part of a secret.
func shows(t *testing.T, got result) {
	t.Helper()
	for _, secret := range []string{oneSecret, otherSecret, thirdSecret} {
		for i := 0; i+16 <= len(secret); i += 4 {
			if strings.Contains(got.err+got.out, secret[i:i+16]) {
				t.Fatalf("a message shows a secret: %+v", got)
			}
		}
	}
}

// A secret in the wrong place is not repeated.
func TestMisplacedSecret(t *testing.T) {
	env := Env{Getenv: environment(keysVariable, someKeys)}
	for _, line := range []string{
		"token seal --type order --key-file " + oneSecret + " 1",
		"token seal --type order " + oneSecret,
		"token seal --type order " + thirdSecret,
		"token open --type order " + otherSecret + " ord_" + oneSecret,
	} {
		t.Run(fmt.Sprintf("%.30s", line), func(t *testing.T) {
			got := runWith(t, env, strings.Fields(line)...)
			if got.code == 0 || got.err == "" {
				t.Errorf("%+v", got)
			}
			shows(t, got)
		})
	}
}
