package driver

// OwnedStore is a Store that only one generator uses. Its CloseWithGenerator is called after the
// generator's Close or a failed worker.Open, when nothing is left to release.
type OwnedStore interface {
	Store
	CloseWithGenerator() error
}
