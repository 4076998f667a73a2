package readme

import "testing"

func TestBwmarrin(t *testing.T) {
	if p, err := bwmarrin().Decode(1996573624012345677); err != nil || p.Worker > 1023 {
		t.Errorf("%+v, %v", p, err)
	}
}
