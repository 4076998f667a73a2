// Package session reads the claims of signed tokens.
package session

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Claims are what a token says, as in the usual packages for JWT.
type Claims map[string]any

// Issue returns the claims of a user.
func Issue(ctx context.Context, user sqltype.ID, gen sqltype.Source, ttl time.Duration) (Claims, error) {
	nonce, err := sqltype.NextID(ctx, gen)
	if err != nil {
		return nil, err
	}
	return Claims{
		"uid": int64(user), // ALSO 048: written as a number
		"jti": nonce.String(),
		"exp": time.Now().Add(ttl).Unix(), // OK 34: a time, not a key
	}, nil
}

func parse(token string) (Claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("session: no token")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, err
	}
	var c Claims
	return c, json.Unmarshal(text, &c)
}

// User returns the user of a token that has been verified.
func User(token string) (sqltype.ID, error) {
	claims, err := parse(token)
	if err != nil {
		return 0, err
	}
	switch uid := claims["uid"].(type) {
	case string:
		return sqltype.Parse(uid) // OK 35: text keeps all digits
	case float64:
		return sqltype.ID(int64(uid)), nil // FAULT 048 snownarrow: a claim of type float64 has lost the last digits of the key; golang-jwt/jwt#230
	}
	return 0, errors.New("session: no uid")
}

// Expired reports whether a token is too old.
func Expired(token string, now time.Time) bool {
	claims, err := parse(token)
	if err != nil {
		return true
	}
	exp, _ := claims["exp"].(float64)
	return now.After(time.Unix(int64(exp), 0)) // OK 36: seconds are far below 2^53
}
