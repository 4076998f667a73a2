//go:build go1.27 && goexperiment.jsonv2

package sqltype_test

func init() { nullV2 = []string{"MarshalJSONTo"} }
