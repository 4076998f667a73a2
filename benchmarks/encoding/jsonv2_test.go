//go:build go1.27 && goexperiment.jsonv2

package encoding

import (
	"encoding/json/v2"
	"testing"
)

// BenchmarkJSONv2 is BenchmarkJSON with encoding/json/v2.
func BenchmarkJSONv2(b *testing.B) {
	benchmarkJSON(b, codec{
		func(v any) ([]byte, error) { return json.Marshal(v) },
		func(data []byte, v any) error { return json.Unmarshal(data, v) },
	})
}
