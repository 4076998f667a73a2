package encoding

import (
	"strings"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The messages stand for those with a field string id = 1, and int64 id = 1: their JSON is the field's.
func TestProtobuf(t *testing.T) {
	const id, key = ID(1996573624012345677), Key(1996573624012345677)
	gateway := new(runtime.JSONPb)
	for name, c := range map[string]struct {
		marshal   func(proto.Message) ([]byte, error)
		unmarshal func([]byte, proto.Message) error
	}{
		"protojson":    {protojson.Marshal, protojson.Unmarshal},
		"grpc-gateway": {func(m proto.Message) ([]byte, error) { return gateway.Marshal(m) }, func(b []byte, m proto.Message) error { return gateway.Unmarshal(b, m) }},
	} {
		t.Run(name, func(t *testing.T) {
			for want, message := range map[string]proto.Message{
				`"1996573624012345677"`: wrapperspb.String(id.String()), `"ord_1qda147xjq4ad"`: wrapperspb.String(key.String()),
			} {
				text, err := c.marshal(message)
				if err != nil || string(text) != want {
					t.Errorf("%s, %v, want %s", text, err, want)
				}
				var back wrapperspb.StringValue
				err = c.unmarshal(text, &back)
				var got ID
				var errParse error
				if strings.Contains(want, "_") {
					var k Key
					k, errParse = sqltype.ParseKey[order](back.GetValue())
					got = k.ID()
				} else {
					got, errParse = sqltype.Parse(back.GetValue())
				}
				if err != nil || errParse != nil || got != id {
					t.Errorf("%s is %v, %v, %v", text, got, err, errParse)
				}
			}
			if text, err := c.marshal(wrapperspb.Int64(id.Int64())); err != nil || string(text) != `"1996573624012345677"` {
				t.Errorf("%s, %v", text, err)
			}
			// A number may have been rounded: a string refuses it, an int64 does not.
			number := []byte("1996573624012345600")
			if err := c.unmarshal(number, new(wrapperspb.StringValue)); err == nil {
				t.Errorf("a string field takes %s", number)
			}
			var integer wrapperspb.Int64Value
			if err := c.unmarshal(number, &integer); err != nil || integer.GetValue() != 1996573624012345600 {
				t.Errorf("%v, %v: does docs/keys.md still hold?", integer.GetValue(), err)
			}
			if err := c.unmarshal([]byte(`"-7"`), &integer); err != nil || new(ID).Scan(integer.GetValue()) == nil {
				t.Errorf("%v, %v", integer.GetValue(), err)
			}
		})
	}
	// A parameter of a path or query.
	if n, err := runtime.Int64("007"); err != nil || n != 7 {
		t.Errorf("%d, %v: does docs/keys.md still hold?", n, err)
	}
}
