package token

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// atDepth calls do in n more frames.
//
//go:noinline
func atDepth(n int, do func()) int {
	if n == 0 {
		do()
		return 0
	}
	return atDepth(n-1, do) + 1
}

// Tokens are right wherever the stack grows, also while AES has the scratch.
func TestGrowingStack(t *testing.T) {
	var first, second [secretSize]byte
	for i := range first {
		first[i], second[i] = byte(i), byte(100+i)
	}
	long, err := NewSecret(first[:])
	if err != nil {
		t.Fatal(err)
	}
	short, err := NewSecret(second[:])
	if err != nil {
		t.Fatal(err)
	}
	ring, err := New(Config{Keys: []Secret{long}, ShortKeys: []ShortKey{{Number: 3, Secret: short}}})
	if err != nil {
		t.Fatal(err)
	}
	longSealer, err := ring.Sealer("order")
	if err != nil {
		t.Fatal(err)
	}
	shortSealer, err := ring.ShortSealer("order")
	if err != nil {
		t.Fatal(err)
	}
	for name, sealer := range map[string]sqltype.Sealer{"long": longSealer, "short": shortSealer} {
		t.Run(name, func(t *testing.T) {
			want, err := sealer.AppendSeal(nil, 7)
			if err != nil {
				t.Fatal(err)
			}
			text := string(want)
			for n := range 600 {
				onNewStack(n, func() {
					if got, err := sealer.AppendSeal(make([]byte, 0, 32), 7); string(got) != text {
						t.Errorf("%d frames deep: sealed as %s, %v, want %s", n, got, err, text)
					}
				})
				onNewStack(n, func() {
					if id, err := sealer.Unseal(text); id != 7 {
						t.Errorf("%d frames deep: opened as %d, %v", n, id, err)
					}
				})
			}
		})
	}
}

// onNewStack calls do in a new goroutine, whose stack is small.
func onNewStack(frames int, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		atDepth(frames, do)
	}()
	<-done
}
