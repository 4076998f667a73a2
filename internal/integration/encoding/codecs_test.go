package encoding

import (
	"encoding/json"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	ID      = sqltype.ID
	NullID  = sqltype.NullID
	Key     = sqltype.Key[order] // as ord_0000000000007
	NullKey = sqltype.NullKey[order]
	Plain   = sqltype.Key[int] // in decimal
)

type order struct{}

func (*order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// The names by which the tables speak of the JSON packages.
const (
	std   = "encoding/json"       // in its own right
	onV2  = "encoding/json on v2" // as Go 1.27 has it
	two   = "encoding/json/v2"
	gocc  = "goccy/go-json"
	son   = "bytedance/sonic"
	sonSt = "bytedance/sonic ConfigStd"
	iter  = "json-iterator/go"
	iterC = "json-iterator/go ConfigCompatible"
	segm  = "segmentio/encoding/json"
)

type codec struct {
	name      string
	marshal   func(v any) ([]byte, error)
	unmarshal func(data []byte, v any) error
	is        bool // whether its errors can be told apart with errors.Is
}

// codecs is every JSON package, v2 where the toolchain builds it, and sonic where
// it is built for the Go in use: elsewhere it is encoding/json by another name.
func codecs() []codec {
	compatible := jsoniter.ConfigCompatibleWithStandardLibrary
	list := append([]codec{
		{stdName, json.Marshal, json.Unmarshal, true},
		{gocc, goccy.Marshal, goccy.Unmarshal, true},
		{iter, jsoniter.Marshal, jsoniter.Unmarshal, false},
		{iterC, compatible.Marshal, compatible.Unmarshal, false},
		{segm, segmentio.Marshal, segmentio.Unmarshal, true},
	}, v2()...)
	if sonic.APIKind == sonic.UseSonicJSON {
		list = append(list,
			codec{son, sonic.Marshal, sonic.Unmarshal, true},
			codec{sonSt, sonic.ConfigStd.Marshal, sonic.ConfigStd.Unmarshal, true})
	}
	return list
}

func ptr[T any](v T) *T { return &v }
