package readme

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestKeys(t *testing.T) {
	const id = 1996573624012345677
	b, err := json.Marshal(Ticket{ID: id, CustomerID: id})
	const want = `{"id":"tkt_1qda147xjq4ad","customerId":"cus_1qda147xjq4ad","parentId":null}`
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v", b, err)
	}
	for in, want := range map[string]error{
		"tkt_1qda147xjq4ad": nil, "REQ_1QDA147XJQ4AD": nil, "1996573624012345677": nil,
		"cus_1qda147xjq4ad": sqltype.ErrPrefix, "tkt_1qda147xjq4a": sqltype.ErrSyntax, "tkt_8000000000000": sqltype.ErrRange,
	} {
		r := httptest.NewRequest(http.MethodGet, "/tickets/x", nil)
		r.SetPathValue("id", in)
		key, err := ticketOf(r)
		if !errors.Is(err, want) || err == nil && key != id {
			t.Errorf("%s: %v, %v", in, key, err)
		}
	}
	if err := errors.Join((*Customer)(nil).KeyForm().Check(), (*Ticket)(nil).KeyForm().Check()); err != nil {
		t.Error(err)
	}
}
