//go:build !linux

package sqlstore

import "os"

// birthOf returns when the file was made, where the system says it.
func birthOf(_ string, info os.FileInfo) (string, error) {
	return field(info, "Birthtimespec") + field(info, "CreationTime"), nil
}

func isMount(string) bool { return false }

func bootID() string { return "" }
