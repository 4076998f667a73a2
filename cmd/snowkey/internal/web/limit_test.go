package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"time"
)

// The client is the last address that no trusted proxy has.
func TestClient(t *testing.T) {
	trusted := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "192.0.2.1:99", nil, "192.0.2.1"},
		{"made up without a proxy", "192.0.2.1:99", []string{"203.0.113.5"}, "192.0.2.1"},
		{"behind one", "10.1.1.1:99", []string{"203.0.113.5"}, "203.0.113.5"},
		{"made up behind one", "10.1.1.1:99", []string{"198.51.100.7, 203.0.113.5"}, "203.0.113.5"},
		{"made up as a proxy", "10.1.1.1:99", []string{"10.9.9.9, 203.0.113.5"}, "203.0.113.5"},
		{"behind two", "10.1.1.1:99", []string{"198.51.100.7, 203.0.113.5 ,10.2.2.2"}, "203.0.113.5"},
		{"two headers", "10.1.1.1:99", []string{"203.0.113.5", "10.2.2.2"}, "203.0.113.5"},
		{"with ports", "10.1.1.1:99", []string{"203.0.113.5:1234"}, "203.0.113.5"},
		{"IPv6", "[fd00::1]:99", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 with a port", "[fd00::1]:99", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		{"IPv6 in brackets", "[fd00::1]:99", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:10.1.1.1]:99", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		{"nonsense", "10.1.1.1:99", []string{"203.0.113.5, unknown"}, "10.1.1.1"},
		{"nonsense behind two", "10.1.1.1:99", []string{"x, 10.2.2.2"}, "10.2.2.2"},
		{"nothing", "10.1.1.1:99", []string{""}, "10.1.1.1"},
		{"only proxies", "10.1.1.1:99", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			for _, text := range c.forwarded {
				r.Header.Add("X-Forwarded-For", text)
			}
			if got := trusted.client(r).String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// from sends a request to the API from an address.
func from(h http.Handler, address string) int {
	r := httptest.NewRequest(http.MethodGet, "/api/layouts", nil)
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(address), 1).String()
	return record(h, r).Code
}

// Each address has a limit of its own, which the page and probes do not use.
func TestRate(t *testing.T) {
	h := handler(t, Config{Rate: 0.01})
	for address, want := range map[string]int{"192.0.2.1": 429, "192.0.2.2": 429, "2001:db8::1": 429} {
		if status := from(h, address); status != 200 {
			t.Errorf("%s: %d at first", address, status)
		}
		if status := from(h, address); status != want {
			t.Errorf("%s: %d, want %d", address, status, want)
		}
	}
	for address, want := range map[string]int{"2001:db8::ffff": 429, "2001:db8:0:1::1": 200} {
		if status := from(h, address); status != want {
			t.Errorf("%s: %d, want %d", address, status, want)
		}
	}
	for range 3 {
		for _, path := range []string{"/", alivePath, readyPath} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			if w := record(h, r); w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/api/ids?worker=1", nil)
	r.RemoteAddr = "192.0.2.1:1"
	w := record(h, r)
	check(t, "too many", w.Code, http.StatusTooManyRequests, w.Body.Bytes(), "client", "too many requests")
	if seconds, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || seconds < 90 || seconds > 101 {
		t.Errorf("Retry-After %q, want about 100", w.Header().Get("Retry-After"))
	}
	var body errorBody
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Error.Fields[0].Value != "192.0.2.1" {
		t.Errorf("%v %s", err, w.Body)
	}
}

// What a refusal says is true: one moment before there is none, and then there is one.
func TestLimitsRetry(t *testing.T) {
	l, now, a := newLimits(2, 100), time.Now(), netip.MustParseAddr("192.0.2.1")
	for range 2 {
		if f := l.check(a, now); f != nil {
			t.Fatal(f)
		}
	}
	f := l.check(a, now)
	if f == nil || f.retry != 500*time.Millisecond {
		t.Fatalf("%+v", f)
	}
	if l.check(a, now.Add(f.retry-time.Millisecond)) == nil {
		t.Error("there was one before")
	}
	if f := l.check(a, now.Add(f.retry)); f != nil {
		t.Error(f)
	}
}

// The number of limits is fixed, and nearly all addresses have one of their own.
func TestLimitsBound(t *testing.T) {
	l, now := newLimits(1, 10_000), time.Now()
	refused := 0
	for i := range 1000 {
		if l.check(netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), now) != nil {
			refused++
		}
	}
	if refused > 150 || len(l.all) != 10_000 {
		t.Errorf("%d addresses of 1000 were refused, %d limits", refused, len(l.all))
	}
}
