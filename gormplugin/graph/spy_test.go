package graph_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"gorm.io/gorm"
)

// spy wraps the pool of gorm: it records each statement, and fails those that at selects.
type spy struct {
	gorm.ConnPool
	shared *spied
}

type spied struct {
	mu   sync.Mutex
	sent []string
	// at is called before a statement is sent; an error keeps it from being sent.
	at func(n int, what string) error
	// lost is called when COMMIT was sent: its error is the caller's instead of the answer.
	lost func() error
}

var errInjected = errors.New("injected fault")

func (s *spied) meet(what string) error {
	s.mu.Lock()
	n := len(s.sent)
	s.sent = append(s.sent, what)
	at := s.at
	s.mu.Unlock()
	if at != nil {
		return at(n, what)
	}
	return nil
}

// failAt makes each statement that contains part fail with err.
func (s *spied) failAt(part string, err error) {
	s.at = func(_ int, what string) error {
		if strings.Contains(what, part) {
			return err
		}
		return nil
	}
}

func (s *spied) reset() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

// verbs are the first words of what was sent, and of an INSERT the table.
func verbs(sent []string) (words []string) {
	for _, s := range sent {
		f := strings.Fields(s)
		word := f[0]
		if word == "INSERT" {
			word += " " + strings.Trim(f[2], "`\"")
		}
		words = append(words, word)
	}
	return words
}

// spyOn is a handle on the same database whose statements are seen.
func spyOn(db *gorm.DB) (*gorm.DB, *spied) {
	shared := &spied{}
	tx := db.Session(&gorm.Session{NewDB: true, Context: context.Background()})
	pool := &spy{db.Statement.ConnPool, shared}
	tx.Statement.ConnPool = pool
	tx.ConnPool = pool
	return tx, shared
}

func (s *spy) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := s.shared.meet(query); err != nil {
		return nil, err
	}
	return s.ConnPool.ExecContext(ctx, query, args...)
}

func (s *spy) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := s.shared.meet(query); err != nil {
		return nil, err
	}
	return s.ConnPool.QueryContext(ctx, query, args...)
}

func (s *spy) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	if err := s.shared.meet("BEGIN"); err != nil {
		return nil, err
	}
	tx, err := s.ConnPool.(gorm.TxBeginner).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &spyTx{spy{tx, s.shared}, tx}, nil
}

type spyTx struct {
	spy
	tx *sql.Tx
}

func (s *spyTx) Commit() error {
	if err := s.shared.meet("COMMIT"); err != nil {
		_ = s.tx.Rollback() // what a server does when it never hears of it
		return err
	}
	err := s.tx.Commit()
	if s.shared.lost != nil {
		return s.shared.lost()
	}
	return err
}

func (s *spyTx) Rollback() error {
	_ = s.shared.meet("ROLLBACK")
	return s.tx.Rollback()
}

func (s *spyTx) BeginTx(context.Context, *sql.TxOptions) (gorm.ConnPool, error) {
	return nil, gorm.ErrInvalidTransaction
}
