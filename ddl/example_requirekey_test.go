package ddl_test

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

func ExampleConfig_RequireKey() {
	script, err := ddl.Config{Dialect: ddl.SQLite}.RequireKey("orders", "id")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(script)
	// Output:
	// CREATE TRIGGER IF NOT EXISTS `orders_id_required` BEFORE INSERT ON `orders` WHEN NEW.`id` IS NULL OR NEW.`id` <= 0 BEGIN SELECT RAISE(ABORT, 'snowkey: the key is missing: only programs with a generator insert here'); END;
}
