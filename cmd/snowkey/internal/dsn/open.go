package dsn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	_ "github.com/glebarez/go-sqlite" // the driver "sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// timeout bounds the wait for the first response.
const timeout = 10 * time.Second

// Target is an open DSN. Only the client of its kind is set.
type Target struct {
	*DSN
	DB    *sql.DB
	Redis *redis.Client
	Etcd  *clientv3.Client

	token  string
	create bool
	close  func() error // nil: nothing is open
}

// Open connects and waits for a first response until the timeout. Errors name the target
// without its password. token is the token of an HTTP server; create creates a missing file of SQLite, or
// tables.
func (d *DSN) Open(ctx context.Context, token string, create bool) (t *Target, err error) {
	command := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	t = &Target{DSN: d, token: token, create: create}
	defer func() {
		if err != nil {
			t.Close()
			lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return strings.ContainsRune("\r\n\t", r) })
			text := strings.Join(slices.Compact(lines), "; ") // pgx has a line for each attempt
			if command.Err() != nil {
				text = "interrupted"
			}
			t, err = nil, fmt.Errorf("%s: %s", d.Name, strings.ReplaceAll(text, ":; ", ": "))
		}
	}()
	switch d.Kind {
	case Postgres:
		t.DB = stdlib.OpenDB(*d.pg)
	case MySQL:
		t.DB, err = openMySQL(*d.my)
	case SQLite:
		t.DB, err = d.openSQLite(create)
	case Redis:
		logging.Disable() // go-redis also returns what it logs
		t.Redis = redis.NewClient(d.redis)
		t.close = t.Redis.Close
		return t, t.Redis.Ping(ctx).Err()
	case Etcd:
		return t, t.openEtcd(ctx)
	case HTTP:
		return t, nil
	}
	if err != nil {
		return t, err
	}
	t.close = t.DB.Close
	return t, t.DB.PingContext(ctx)
}

// Close closes all connections. It may be called twice.
func (t *Target) Close() {
	if t.close != nil {
		_ = t.close()
	}
}

func openMySQL(cfg mysqldriver.Config) (*sql.DB, error) {
	cfg.ParseTime, cfg.Loc = true, time.UTC
	cfg.Logger = &mysqldriver.NopLogger{}
	connector, err := mysqldriver.NewConnector(&cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (d *DSN) openSQLite(create bool) (*sql.DB, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	// SQLite's error for a file that cannot be opened is misleading.
	f, err := os.OpenFile(d.Path, flag, 0o644)
	if err != nil {
		return nil, Bare(err)
	}
	_ = f.Close()
	query := d.query
	if !strings.Contains(query, "busy_timeout") {
		query = strings.TrimPrefix(query+"&_pragma=busy_timeout(5000)", "&")
	}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.Path}).EscapedPath(), RawQuery: query}
	return sql.Open("sqlite", file.String())
}

func (t *Target) openEtcd(ctx context.Context) error {
	again := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}
	again.Backoff.MaxDelay = 3 * time.Second // two minutes by default, also after an outage
	cfg := clientv3.Config{Endpoints: t.Endpoints, DialTimeout: 5 * time.Second, DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)}, Logger: zap.NewNop()}
	if t.user != nil {
		cfg.Username = t.user.Username()
		cfg.Password, _ = t.user.Password()
	}
	client, err := clientv3.New(cfg) // asks the members for the user
	if err == nil {
		t.Etcd, t.close = client, client.Close
		_, err = client.Get(ctx, "snowkey", clientv3.WithCountOnly())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no member responds")
	}
	return err
}

// Bare drops the path from an error whose message names it already.
func Bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Store is a lease store with its operator's methods.
type Store interface {
	driver.Store
	driver.Admin
}

// Store returns the lease store in the target.
func (t *Target) Store() (Store, error) {
	switch t.Kind {
	case Redis:
		return redisstore.New(t.eval, redisstore.Config{ConfigGet: t.ConfigGet})
	case Etcd:
		return etcdstore.New(t.Etcd, etcdstore.Config{Clock: t.etcdClock})
	case HTTP:
		return httpstore.New(httpstore.Config{URL: t.url, Token: t.token})
	}
	return t.sql()
}

func (t *Target) sql() (*sqlstore.Store, error) {
	return sqlstore.New(t.DB, sqlstore.Config{Dialect: t.Kind.Dialect(), NoCreate: !t.create})
}

func (t *Target) eval(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	return t.Redis.Eval(ctx, script, keys, args...).Result()
}

// ConfigGet returns a setting of a Redis.
func (t *Target) ConfigGet(ctx context.Context, name string) (string, error) {
	values, err := t.Redis.ConfigGet(ctx, name).Result()
	return values[name], err
}

// ErrNoClock is returned by Clock if the target uses this machine's clock.
var ErrNoClock = errors.New("has this machine's clock")

// Clock returns the target's time and its resolution.
func (t *Target) Clock(ctx context.Context) (now time.Time, resolution time.Duration, err error) {
	var micros int64
	switch t.Kind {
	case Postgres:
		err = t.DB.QueryRowContext(ctx, "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000000 AS bigint)").Scan(&micros)
	case MySQL:
		err = t.DB.QueryRowContext(ctx, "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").Scan(&micros)
	case Redis:
		now, err = t.Redis.Time(ctx).Result()
		return now, time.Microsecond, err
	case Etcd:
		now, err = t.etcdClock(ctx)
		return now, time.Second, err
	case HTTP:
		now, err = dateOf(ctx, t.url)
		return now, time.Second, err
	default:
		return time.Time{}, 0, ErrNoClock
	}
	return time.UnixMicro(micros), time.Microsecond, err
}

// etcdClock asks the members in turn until one answers.
func (t *Target) etcdClock(ctx context.Context) (now time.Time, err error) {
	for _, endpoint := range t.Endpoints {
		if now, err = etcdstore.HTTPClock(endpoint, nil)(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return now, err
}

// dateOf returns the Date of a server's response, whatever its status.
func dateOf(ctx context.Context, url string) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return time.Time{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer answer.Body.Close()
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("the response has no date: %w", err)
	}
	return date.Add(time.Second / 2), nil // it is truncated
}

// Offset is the difference of the target's clock from this machine's.
type Offset struct {
	Ahead     time.Duration // negative: it is behind
	Uncertain time.Duration // either way
	RoundTrip time.Duration
}

// Offset compares the clocks: the shortest of several round trips counts, and the
// target's reading is assumed to be in its middle.
func (t *Target) Offset(ctx context.Context, now func() time.Time, tries int) (Offset, error) {
	var best Offset
	for i := range tries {
		before, began := now(), time.Now()
		theirs, resolution, err := t.Clock(ctx)
		if err != nil {
			return Offset{}, err
		}
		trip := time.Since(began)
		if i == 0 || trip < best.RoundTrip {
			best = Offset{Ahead: theirs.Sub(before.Add(trip / 2)), Uncertain: trip/2 + resolution/2, RoundTrip: trip}
		}
	}
	return best, nil
}

// HasLeases reports whether a database has the table of leases. Without it, no worker ID was
// ever leased. Other kinds of stores have no tables and always may have leases.
func (t *Target) HasLeases(ctx context.Context) (bool, error) {
	if !t.Kind.SQL() {
		return true, nil
	}
	table := "snow_lease"
	if t.Kind == Postgres {
		table = "public.snow_lease"
	}
	_, err := t.DB.ExecContext(ctx, "SELECT 1 FROM "+table+" WHERE 1 = 0")
	if err != nil && NoTable(err) {
		return false, nil
	}
	return err == nil, err
}

// Namespaces returns the names of the namespaces of a database. Of other kinds of stores it returns
// none.
func (t *Target) Namespaces(ctx context.Context) (names []string, err error) {
	if has, err := t.HasLeases(ctx); !t.Kind.SQL() || !has {
		return nil, err
	}
	store, err := t.sql()
	if err != nil {
		return nil, err
	}
	all, err := store.Namespaces(ctx)
	for _, ns := range all {
		names = append(names, ns.Name)
	}
	return names, err
}

// NoTable reports whether an error means that a table does not exist.
func NoTable(err error) bool {
	var pg *pgconn.PgError
	var my *mysqldriver.MySQLError
	switch {
	case errors.As(err, &pg):
		return pg.Code == "42P01"
	case errors.As(err, &my):
		return my.Number == 1146
	}
	return strings.Contains(err.Error(), "no such table") // SQLite has no code for it
}
