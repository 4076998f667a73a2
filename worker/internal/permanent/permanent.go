// Package permanent marks errors of stores that asking again does not mend, such as
// a wrong password. Package worker knows them by their method.
package permanent

type marked struct{ error }

func (m marked) Permanent() bool { return true }

func (m marked) Unwrap() error { return m.error }

// Mark gives the error as a permanent one, in the same words. nil stays nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return marked{err}
}
