//go:build !linux

package file

import "os"

// birthOf returns when the file was made, or "" if the system does not record that.
func birthOf(_ string, info os.FileInfo) (birth string, err error) {
	return field(info, "Birthtimespec") + field(info, "CreationTime"), nil
}

func bootID() string { return "" }
