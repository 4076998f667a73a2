package sqltype

import (
	"context"
	"encoding"
	"encoding/json"
	"io"
	"strconv"
)

// These methods implement gqlgen's ContextMarshaler and ContextUnmarshaler. Unlike MarshalGQL,
// which gqlgen looks for as well, MarshalGQLContext can report an error.

// MarshalGQLContext writes the decimal string in quotes, for gqlgen. If the id is negative, it writes
// nothing and returns ErrNegative.
func (id ID) MarshalGQLContext(_ context.Context, w io.Writer) error { return writeGQL(w, id) }

// UnmarshalGQLContext reads a value of a GraphQL request, for gqlgen: a string that Parse accepts,
// and an integer as a json.Number, int64 or int. On an error the id is unchanged: ErrNull for
// null, the errors of UnmarshalJSON for a string or number, and ErrType for any other type,
// including floats.
func (id *ID) UnmarshalGQLContext(_ context.Context, v any) error {
	n, err := fromGQL[struct{}](v)
	return id.set("UnmarshalGQLContext", n, err)
}

// MarshalGQLContext writes null for NULL and otherwise what [ID.MarshalGQLContext] writes.
func (n NullID) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	return n.key().MarshalGQLContext(ctx, w)
}

// UnmarshalGQLContext reads null as NULL, and otherwise what [ID.UnmarshalGQLContext] reads, with
// the same errors. On an error n is unchanged.
func (n *NullID) UnmarshalGQLContext(_ context.Context, v any) error {
	id, err := fromGQL[struct{}](v)
	return n.set("UnmarshalGQLContext", id, err)
}

// MarshalGQLContext writes the string in quotes, for gqlgen. On an error, which is one of AppendText,
// it writes nothing.
func (k Key[T]) MarshalGQLContext(_ context.Context, w io.Writer) error { return writeGQL(w, k) }

// UnmarshalGQLContext reads a value of a GraphQL request, for gqlgen: the string of a key, and also an
// integer if the key's Form reads decimal strings. It returns the errors of UnmarshalJSON,
// ErrNull for null, and ErrType for a value of another type. The key is then unchanged.
func (k *Key[T]) UnmarshalGQLContext(_ context.Context, v any) error {
	id, err := fromGQL[T](v)
	return (*ID)(k).set("UnmarshalGQLContext", id, err)
}

// MarshalGQLContext writes null for NULL and otherwise what [Key.MarshalGQLContext] writes.
func (n NullKey[T]) MarshalGQLContext(_ context.Context, w io.Writer) error {
	if !n.Valid {
		_, err := io.WriteString(w, "null")
		return err
	}
	return writeGQL(w, n.Key)
}

// UnmarshalGQLContext reads null as NULL, and otherwise what [Key.UnmarshalGQLContext] reads, with
// the same errors. On an error n is unchanged.
func (n *NullKey[T]) UnmarshalGQLContext(_ context.Context, v any) error {
	id, err := fromGQL[T](v)
	return n.set("UnmarshalGQLContext", id, err)
}

// writeGQL writes a string in which nothing needs to be escaped.
func writeGQL(w io.Writer, id encoding.TextAppender) error {
	b, err := id.AppendText([]byte{'"'})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '"'))
	return err
}

// fromGQL returns a bare ErrNull for null. A variable of a request is a json.Number, a literal in
// its string an int64, and gqlgen's tests pass an int.
func fromGQL[T any](v any) (ID, error) {
	switch v := v.(type) {
	case nil:
		return 0, ErrNull
	case string:
		return parseKey[T]("parse", v)
	case json.Number:
		return keyFromJSON[T]([]byte(v))
	case int64:
		return keyFromJSON[T](strconv.AppendInt(nil, v, 10))
	case int:
		return keyFromJSON[T](strconv.AppendInt(nil, int64(v), 10))
	}
	return 0, typeError("decode", v)
}
