package sqlgen

import (
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"
)

// mariaVariants are what an insert is compared with: AUTO_INCREMENT alone, with an empty trigger,
// and with a trigger that calls an empty function.
var mariaVariants = []string{"auto_increment", "generator", "trigger", "trigger_function"}

// BenchmarkMariaDBInsert is BenchmarkInsert for MariaDB.
//
//	go test -run '^$' -bench MariaDBInsert -benchtime 5x ./internal/integration/sqlgen
func BenchmarkMariaDBInsert(b *testing.B) {
	db, dsn := mariaDatabase(b)
	mariaCreate(b, db, mariaOrders)
	mariaTable(b, db, mariaOrders, "generator")
	mariaRun(b, db,
		"CREATE FUNCTION empty_function() RETURNS BIGINT NO SQL RETURN 1",
		"CREATE TABLE auto_increment (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB",
		"CREATE TABLE `trigger` (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB",
		"CREATE TRIGGER empty_trigger BEFORE INSERT ON `trigger` FOR EACH ROW BEGIN END",
		"CREATE TABLE trigger_function (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT, w BIGINT) ENGINE=InnoDB",
		"CREATE TRIGGER one BEFORE INSERT ON trigger_function FOR EACH ROW SET NEW.w = empty_function()")
	compare := func(b *testing.B, work func(table string)) {
		b.Helper()
		ratios := map[string][]float64{}
		for b.Loop() {
			took := map[string]time.Duration{}
			for _, table := range mariaVariants {
				mariaRun(b, db, "TRUNCATE `"+table+"`")
				start := time.Now()
				work(table)
				took[table] = time.Since(start)
			}
			for _, table := range mariaVariants[1:] {
				ratios[table] = append(ratios[table], float64(took[table])/float64(took["auto_increment"]))
			}
		}
		for table, of := range ratios {
			slices.Sort(of)
			b.ReportMetric(of[len(of)/2], table+"/auto_increment")
		}
	}
	b.Run("1e6 rows", func(b *testing.B) {
		compare(b, func(table string) {
			mariaRun(b, db, "INSERT INTO `"+table+"` (v) SELECT seq FROM seq_1_to_1000000")
		})
	})
	b.Run("8 clients", func(b *testing.B) {
		clients := make([]*sql.DB, 8)
		for i := range clients {
			clients[i] = mariaSession(b, dsn)
		}
		compare(b, func(table string) {
			var all sync.WaitGroup
			for _, client := range clients {
				all.Go(func() {
					for range 500 {
						if _, err := client.Exec("INSERT INTO `" + table + "` (v) VALUES (1)"); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	})
}
