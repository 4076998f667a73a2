package readme

import "github.com/seed-299c1d6b/snowkey/sqltype"

type Concert struct {
	ID    sqltype.Key[Concert]
	Seats []Seat
}

type Seat struct {
	ID        sqltype.Key[Seat]
	ConcertID sqltype.Key[Concert]
}

func (*Concert) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "concert"} }
