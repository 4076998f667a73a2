//go:build go1.27 && goexperiment.jsonv2

package encoding

import "encoding/json/v2"

const stdName = onV2

func v2() []codec {
	return []codec{{
		two,
		func(v any) ([]byte, error) { return json.Marshal(v) },
		func(data []byte, v any) error { return json.Unmarshal(data, v) },
		true,
	}}
}
