package readme

import "testing"

func TestCheckout(t *testing.T) {
	db := openGORM(t, &Order{}, &OrderLine{})
	gen, err := useSnowkey(db, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	orders, err := checkout(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var read []Order
	if err := db.Preload("Lines").Order("id").Find(&read).Error; err != nil {
		t.Fatal(err)
	}
	if len(read) != 2 || len(read[0].Lines) != 2 || read[0].ID != orders[0].ID || read[1].Lines[0].ID != orders[1].Lines[0].ID {
		t.Errorf("%+v, want %+v", read, orders)
	}
	if st := gen.Stats(); st.Issued != 5 {
		t.Errorf("%d ids were taken for 5 rows", st.Issued)
	}
}
