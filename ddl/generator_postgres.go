package ddl

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

//go:embed generator_postgres.sql
var postgresCreate string

//go:embed generator_postgres_drop.sql
var postgresDrop string

// betweenStatements separates the statements of a template. A comment in a template must have no placeholder: a name
// may contain a line break, which would end the comment.
const betweenStatements = "\n-- next statement\n"

const (
	// postgresVersion is the version of the objects in the database. Scripts of another version fail on them.
	postgresVersion = 1
	// maxBlock is the most slots that a session takes at a time. It divides 32, because a sequence skips
	// 32 values after a crash. So blocks stay aligned, and a session sees from the value alone that
	// nextval has begun a new block.
	maxBlock = 32
	// postgresLate is how old the time of an id may be, in milliseconds. A session drops the rest of
	// a block that is older.
	postgresLate = 100
	// postgresPatience is how long a call waits, in seconds, for the clock or for the log.
	postgresPatience = 10
)

// block returns the number of slots in a block. It is small, so that lost slots do not matter.
func (g *generator) block() int64 {
	perSecond := g.layout.IDsPerTick() * 1000 / g.layout.tickMs
	for block := int64(maxBlock); block >= 4; block /= 2 {
		if block <= perSecond/5_000 {
			return block
		}
	}
	return 1
}

// ticks converts milliseconds to ticks, rounded up.
func (g *generator) ticks(ms int64) int64 { return (ms + g.layout.tickMs - 1) / g.layout.tickMs }

// aheadTicks returns MaxAhead in ticks, at least 8.
func (g *generator) aheadTicks() int64 { return max(g.ticks(g.MaxAhead.Milliseconds()), 8) }

// write fills in a template.
func (g *generator) write(template string) Script {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	ahead := g.aheadTicks()
	var values, names []string // expressions, below, contain values
	for _, name := range []string{"generator", "marker", "raised", "lock", "cursor", "floor", "checked", "flush", "incarnation", "copied", "check", "ahead_hint", "refill", "next", "release", "claim", "recover", "workers", "home"} {
		object := g.object(name)
		names = append(names, Postgres.text(g.Prefix+name))
		values = append(values, "{"+name+"}", object, "{"+name+"_text}", Postgres.text(object))
	}
	leases := g.tables.Quoted(leasetables.Records)
	values = append(values,
		"{leases}", leases, "{leases_text}", Postgres.text(leases), "{namespaces}", g.tables.Quoted(leasetables.Namespaces), "{incarnation_sql}", g.tables.PostgresIncarnation(),
		"{untouched}", leasetables.PostgresUntouched(""), "{quiet}", leasetables.PostgresQuiet,
		"{namespace}", Postgres.text(g.Namespace), "{layout}", Postgres.text(g.fingerprint),
		"{claim_hint}", Postgres.text("SELECT "+g.object("claim")+"() takes worker IDs."),
		"{copy_hint}", Postgres.text("Take worker IDs that nothing else uses, as in SELECT "+g.object("claim")+"('{7}'). See docs/generator.md."),
		"{claim_id}", Postgres.text(leasetables.GeneratorClaim), "{end}", number(g.end()),
		"{clock}", "pg_catalog.clock_timestamp()", "{epoch}", number(g.layout.Epoch.UnixMilli()), "{tick}", number(g.layout.tickMs),
		"{per_tick}", number(g.layout.IDsPerTick())+"::pg_catalog.int8", "{last_tick}", number(int64(1)<<g.layout.TimeBits-1),
		"{block}", number(g.block()), "{mask}", number(g.block()-1), "{last_used}", number(g.block()-2), "{names}", "ARRAY["+strings.Join(names, ", ")+"]", "{schema_ident}", Postgres.text(Postgres.quote(g.Schema)), "{version}", number(postgresVersion),
		"{ahead}", number(ahead), "{fence_window}", number(g.fenceWindow()), "{max_skew}", number(g.fenceWindow()/3), "{store_version}", number(driver.Version),
		"{patience}", number(postgresPatience),
		"{count}", number(int64(g.Count)), "{most}", number(min(maxGeneratorWorkers, g.workerIDs)), "{all_workers}", number(g.workerIDs),
		"{claim_args}", g.claimArgs(),
	)
	quote := "$snowkey$"
	for strings.Contains(g.Schema+g.Prefix, quote) {
		quote = "$x" + quote[1:]
	}
	expressions := strings.NewReplacer(
		"{cached_slot}", g.cachedSlot(), "{unusable}", g.unusable(), "{id}", g.id(), "{drain}", g.drain(), "$snowkey$", quote,
	)
	objects := strings.NewReplacer(values...)
	script := strings.Split(strings.TrimSuffix(template, "\n"), betweenStatements)
	for i, statement := range script { // one by one, because a name may contain the separator
		script[i] = objects.Replace(expressions.Replace(statement))
	}
	return script
}

// fenceWindow returns the FenceWindow of a namespace that the generator makes, in milliseconds: the
// default of package worker, or MaxAhead if that is more. The namespace's MaxSkew is a third of it.
func (g *generator) fenceWindow() int64 { return max(30_000, g.aheadTicks()*g.layout.tickMs) }

func (g *generator) claimArgs() string {
	if len(g.Workers) == 0 {
		return fmt.Sprintf("how_many => %d", g.Count)
	}
	ids := make([]string, len(g.Workers))
	for i, id := range g.Workers {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return "ARRAY[" + strings.Join(ids, ", ") + "]::bigint[]"
}

// qualified adds the schema to the operators between blanks, because the function has no search_path.
func qualified(expression string) string {
	words := strings.Split(expression, " ")
	for i, word := range words {
		switch word {
		case "+", "-", "*", "/", "%", "|", "<<", "<>", "<=", ">":
			words[i] = "OPERATOR(pg_catalog." + word + ")"
		}
	}
	return strings.Join(words, " ")
}

const slotsOfTick = "({per_tick} * pg_catalog.cardinality({workers}()))"

// drain returns an expression that takes all other values of a block that nextval has begun.
func (g *generator) drain() string {
	if g.block() == 1 {
		return "-1"
	}
	rest := strings.Repeat(nextOfCursor+", ", int(g.block())-1)
	return "GREATEST(" + strings.TrimSuffix(rest, ", ") + ")"
}

const nextOfCursor = "pg_catalog.nextval({cursor_text}::pg_catalog.regclass)"

// cachedSlot returns the expression for the next slot in the session's cache. If nextval has begun a block
// instead, that was not under the lock. Then the expression also takes the rest of the block, because
// between two statements a call may be cancelled; its value is the last slot, which is unusable.
func (g *generator) cachedSlot() string {
	if g.block() == 1 {
		return "-1" // nothing is cached
	}
	return qualified("CASE WHEN (" + nextOfCursor + " % {block}) > 0" +
		" THEN pg_catalog.currval({cursor_text}::pg_catalog.regclass) ELSE " + g.drain() + " END")
}

// unusable returns the condition that the slot v must not be used. The last slot of a block is never used,
// since after it nextval would begin another block. The others are not used if their time is too old or
// too new: after a crash, ids may be ahead by two steps of the floor plus MaxAhead.
func (g *generator) unusable() string {
	if g.block() == 1 {
		return "TRUE"
	}
	now := "((pg_catalog.date_part('epoch', {clock}) * 1000 - {epoch}) / {tick})::pg_catalog.int8"
	late, ahead := g.ticks(postgresLate), g.aheadTicks()+2*g.ticks(g.fenceWindow()*4/3)-1
	return qualified(fmt.Sprintf("(v %% {block}) > {last_used} OR pg_catalog.abs(((v / %s) - %s) - (%d)) > %d OR namespace <> {namespace} OR namespace IS NULL",
		slotsOfTick, now, (ahead-late)/2, (ahead+late)/2))
}

// id returns the expression for the id of the slot v. A greater slot has a greater id.
func (g *generator) id() string {
	l := g.layout
	perWorker := "{per_tick}"
	rest := fmt.Sprintf("(v %% %s)", slotsOfTick)
	worker, sequence := fmt.Sprintf("(%s / %s)", rest, perWorker), fmt.Sprintf("(v %% %s)", perWorker)
	if l.SequenceFirst {
		count := "pg_catalog.cardinality({workers}())"
		worker, sequence = fmt.Sprintf("(v %% %s)", count), fmt.Sprintf("(%s / %s)", rest, count)
	}
	id := fmt.Sprintf("(((v / %s) << %d) | (({workers}())[(%s + 1)::pg_catalog.int4] << %d)) | (%s << %d)",
		slotsOfTick, l.timeShift, worker, l.below[Machine].shift, sequence, l.below[Sequence].shift)
	if g.base > 0 {
		id = fmt.Sprintf("(%s) | %d", id, g.base)
	}
	return qualified(id)
}

// next returns an expression for a new id.
func (g *generator) next() string {
	return g.object("next") + "(" + Postgres.text(g.Namespace) + ")"
}
