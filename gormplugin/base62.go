package gormplugin

// base62Digits is the fixed width of the form: 62^11 is above 2^63.
const base62Digits = 11

// formatBase62 writes the id in eleven characters of 0-9A-Za-z, in ascending order
// of their bytes, so that texts sort as the ids do.
func formatBase62(id int64) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var b [base62Digits]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[id%62]
		id /= 62
	}
	return string(b[:])
}
