// Package dsn parses the data source names of the commands and opens what they name: a
// database, a Redis, an etcd, or a lease server.
package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// Kind is the kind of a target.
type Kind string

// The kinds.
const (
	Postgres Kind = "PostgreSQL"
	MySQL    Kind = "MySQL"
	SQLite   Kind = "SQLite"
	Redis    Kind = "Redis"
	Etcd     Kind = "etcd"
	HTTP     Kind = "HTTP"
)

// Dialect returns the SQL dialect of a database, or "" for what has no tables.
func (k Kind) Dialect() ddl.Dialect {
	return map[Kind]ddl.Dialect{Postgres: ddl.Postgres, MySQL: ddl.MySQL, SQLite: ddl.SQLite}[k]
}

// SQL reports whether the target is a database with tables.
func (k Kind) SQL() bool { return k.Dialect() != "" }

// Forms lists the DSNs that Parse accepts, for messages and help.
const Forms = "postgres://… or host=… user=…, mysql://… or user:password@tcp(host)/db, file:x.db or x.sqlite, redis://…, etcd://host:2379[,host:2379], https://…/leases, or env:VARIABLE that contains one of these"

// A DSN is a parsed data source name.
type DSN struct {
	Kind Kind
	// Name identifies it in messages, without user and password.
	Name      string
	Path      string   // of the file of SQLite
	Endpoints []string // URLs of the members of an etcd

	pg    *pgx.ConnConfig
	my    *mysqldriver.Config
	redis *redis.Options
	query string        // of SQLite's URI
	user  *url.Userinfo // of etcd
	url   string        // of an HTTP server
}

// Parse parses a DSN. Errors do not quote it, because it may contain a password.
func Parse(text string) (*DSN, error) {
	scheme, rest, isURL := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	switch {
	case strings.TrimSpace(text) == "":
		return nil, errors.New("is empty: must be " + Forms)
	case strings.ContainsAny(text, "\x00\r\n"):
		return nil, errors.New("contains a line break")
	case isURL && urlParsers[scheme] != nil:
		u, err := url.Parse(text)
		if err != nil {
			return nil, errNotURL
		}
		return urlParsers[scheme](text, u)
	case mysqlNative.MatchString(text):
		cfg, err := mysqldriver.ParseDSN(text)
		if err != nil {
			return nil, errors.New("is not a DSN of MySQL's driver: must be user:password@tcp(host:3306)/database")
		}
		return finishMySQL(cfg)
	case postgresWords.MatchString(text):
		return parsePostgres(text, nil)
	case isURL && (scheme == "etcd" || scheme == "etcds"):
		return parseEtcd(scheme, rest)
	case len(text) > 5 && strings.EqualFold(text[:5], "file:"):
		return parseSQLite(text[5:])
	case !isURL && isFile(text):
		return &DSN{Kind: SQLite, Name: "SQLite " + text, Path: text}, nil
	case isURL && unsupported[scheme] != "":
		return nil, fmt.Errorf("is of %s, which is not supported: keep leases in a small PostgreSQL, Redis or etcd; its rows can have ids all the same", unsupported[scheme])
	}
	return nil, errors.New("must be " + Forms)
}

var unsupported = map[string]string{"sqlserver": "SQL Server", "mssql": "SQL Server", "oracle": "Oracle"} //nolint:gochecknoglobals // constant

var urlParsers = map[string]func(string, *url.URL) (*DSN, error){ //nolint:gochecknoglobals // constant
	"postgres": parsePostgres, "postgresql": parsePostgres, "mysql": parseMySQL, "mariadb": parseMySQL,
	"redis": parseRedis, "rediss": parseRedis, "http": parseHTTP, "https": parseHTTP,
}

// MySQL's own form, with the protocol before parentheses.
var mysqlNative = regexp.MustCompile(`^(.*@)?(tcp|tcp6|unix)\([^()]*\)/`)

// PostgreSQL's own form: words such as host= and user=.
var postgresWords = regexp.MustCompile(`^\s*(?:\w+\s*=\s*(?:'(?:[^'\\]|\\.)*'|[^\s'=]*)\s*)+$`)

// A word and a colon, such as sqlite: or mysql:, is meant as a scheme. One letter is a
// drive.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

func isFile(text string) bool {
	return !schemed.MatchString(text) && slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, strings.ToLower(filepath.Ext(text)))
}

func parsePostgres(text string, _ *url.URL) (*DSN, error) {
	cfg, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("is not a DSN of PostgreSQL, postgres://user:password@host:5432/database: %s", reason(err))
	}
	return &DSN{Kind: Postgres, Name: fmt.Sprintf("PostgreSQL %s:%d/%s", cfg.Host, cfg.Port, cfg.Database), pg: cfg}, nil
}

var errNotURL = errors.New("is not a URL; escape special characters in a password, such as %40")

// reason returns the end of an error of pgx, without its copy of the DSN.
func reason(err error) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	before, after, ok := strings.Cut(err.Error(), "`: ")
	if !ok {
		return before
	}
	return after
}

// parseMySQL turns mysql://user:password@host:port/database?param=value into the
// driver's own configuration.
func parseMySQL(_ string, u *url.URL) (*DSN, error) {
	if u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("must be mysql://user:password@host:3306/database")
	}
	cfg, err := mysqldriver.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, errors.New("has a parameter that MySQL's driver does not know")
	}
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", u.Host, strings.Trim(u.Path, "/")
	if u.Port() == "" {
		cfg.Addr = strings.TrimSuffix(u.Host, ":") + ":3306"
	}
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	return finishMySQL(cfg)
}

func finishMySQL(cfg *mysqldriver.Config) (*DSN, error) {
	if cfg.DBName == "" {
		return nil, errors.New("names no database: must be mysql://user:password@host:3306/database")
	}
	return &DSN{Kind: MySQL, Name: fmt.Sprintf("MySQL %s/%s", cfg.Addr, cfg.DBName), my: cfg}, nil
}

func parseRedis(text string, u *url.URL) (*DSN, error) {
	opt, err := redis.ParseURL(text)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("must be redis://user:password@host:6379/0")
	}
	opt.DialerRetries = 1 // requests are retried anyway
	return &DSN{Kind: Redis, Name: fmt.Sprintf("Redis %s/%d", opt.Addr, opt.DB), redis: opt}, nil
}

// parseEtcd parses several hosts with ports, which url.Parse cannot.
func parseEtcd(scheme, rest string) (*DSN, error) {
	want := errors.New("must be etcd://host:2379[,host:2379], or etcds:// for TLS")
	d := &DSN{Kind: Etcd}
	hosts := strings.TrimSuffix(rest, "/")
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		u, err := url.Parse("etcd://" + hosts[:at] + "@host")
		if err != nil {
			return nil, errNotURL
		}
		d.user, hosts = u.User, hosts[at+1:]
	}
	transport := "http://"
	if scheme == "etcds" {
		transport = "https://"
	}
	for host := range strings.SplitSeq(hosts, ",") {
		u, err := url.Parse(transport + host)
		if err != nil || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(host, " ") {
			return nil, want
		}
		if u.Port() == "" {
			u.Host = strings.TrimSuffix(u.Host, ":") + ":2379"
		}
		d.Endpoints = append(d.Endpoints, transport+u.Host)
	}
	d.Name = "etcd " + hosts
	return d, nil
}

func parseHTTP(text string, u *url.URL) (*DSN, error) {
	if u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be https://host/path, and the token in --token-file or SNOWKEY_TOKEN")
	}
	return &DSN{Kind: HTTP, Name: text, url: text}, nil
}

func parseSQLite(rest string) (*DSN, error) {
	rest = strings.TrimPrefix(rest, "//")
	path, query, _ := strings.Cut(rest, "?")
	path, err := url.PathUnescape(path)
	if err != nil || path == "" {
		return nil, errors.New("must be file:x.db or file:/path/to/x.db")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("has malformed parameters: must be file:x.db?_pragma=busy_timeout(5000)")
	}
	if path == ":memory:" || values.Get("mode") == "memory" {
		return nil, errors.New("is a database in memory, which no other process sees: must be file:x.db")
	}
	return &DSN{Kind: SQLite, Name: "SQLite " + path, Path: path, query: query}, nil
}

// Secrets returns the parts of a DSN that may be passwords, whether it can be parsed or
// not.
func Secrets(text string) []string {
	var found []string
	add := func(secret string) {
		path, _ := url.PathUnescape(secret)
		query, _ := url.QueryUnescape(secret)
		quoted := strconv.Quote(secret) // as in messages
		for _, form := range []string{secret, path, query, quoted[1 : len(quoted)-1], url.UserPassword("", secret).String()[1:]} {
			if form != "" && !slices.Contains(found, form) {
				found = append(found, form)
			}
		}
	}
	authority := text
	if _, after, ok := strings.Cut(text, "://"); ok {
		authority = after
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if _, password, ok := strings.Cut(authority[:at], ":"); ok {
			add(password)
		}
	}
	for _, match := range parameter.FindAllStringSubmatch(text, -1) {
		if match[1] == "" {
			add(match[2])
			add(strings.Trim(match[2], "'"))
		}
	}
	return found
}

var parameter = regexp.MustCompile(`(?i)(fencing-)?(?:password|passwd|pwd|token|secret)\s*=\s*('(?:[^'\\]|\\.)*'|[^&\s]*)`)

// Hide replaces each secret in a text by dots.
func Hide(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

// Printable replaces control characters, which a terminal would obey, in a text that
// comes from a store.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, text)
}
